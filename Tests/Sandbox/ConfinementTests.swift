#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import AlcedoRuntime
    import AlcedoSandbox
    import Foundation
    import TestSupport
    import Testing

    extension SandboxTests {
        @Suite struct ConfinementTests {
            @Test func `a worker has no variables and only its own descriptors`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                // The standard streams, the socket, and the file with the worker's memory use.
                #expect(
                    sandbox.error(of: "surroundings")?.description == "variables 0, descriptors [0, 1, 2, 3, 4]")
            }

            @Test func `a decoder may count processors and start threads`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                #expect(sandbox.error(of: "processors")?.description == "processors true")
                #expect(sandbox.error(of: "thread")?.description == "thread 0 7")
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `the kernel confines a worker`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let id = try #require(Workers.ids.first)

                #expect(Workers.field("NoNewPrivs", of: id) == "1")
                #expect(Workers.field("Seccomp", of: id) == "2")
                #expect(Workers.field("CapEff", of: id) == "0000000000000000")
                #expect(Workers.field("CapPrm", of: id) == "0000000000000000")
                #expect(try String(contentsOfFile: "/proc/\(id)/oom_score_adj", encoding: .utf8) == "1000\n")
                let limits = try String(contentsOfFile: "/proc/\(id)/limits", encoding: .utf8)
                let files = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
                // Descriptor 0 is in use, and `poll` needs a limit of 1.
                #expect(files.split(separator: " ").dropFirst(3).first == "1")
            }

            @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
            func `a worker ignores the signals that ask a service to end`(signal: Int32) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                for id in Workers.ids { kill(id, signal) }

                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.lostWorkers == 0)
                #expect(sandbox.statistics.crashes == 0)
            }

            @Test(arguments: ["/bin/true", "/nonexistent/worker"])
            func `a program that is no worker cannot start a sandbox`(path: String) {
                let error = #expect(throws: SandboxError.self) { try Sandbox.testing { $0.executable = path } }

                #expect(error?.code == .cannotStart)
                #expect(path != "/bin/true" || "\(error, default: "")".contains("ended with status 0 while it started"))
                #expect(Workers.ids.isEmpty)
            }
        }
    }
#endif
