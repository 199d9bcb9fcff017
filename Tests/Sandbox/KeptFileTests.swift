#if Sandbox
    import AlcedoCore
    import AlcedoLibc
    import AlcedoRuntime
    import AlcedoSandbox
    import Foundation
    import Testing

    extension SandboxTests {
        /// Files that a worker opens before its confinement, such as fonts.
        @Suite struct KeptFileTests {
            /// The path that the program of the worker uses if the file exists.
            private static let path = "/tmp/alcedo-sandbox-kept-\(getpid())"

            /// Runs a test with a worker that keeps the file, and that could not open it again.
            private func withKeptFile(_ body: (Sandbox) throws -> Void) throws {
                try Data("letters".utf8).write(to: URL(fileURLWithPath: Self.path))
                defer { unlink(Self.path) }
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                unlink(Self.path)
                try body(sandbox)
            }

            @Test func `a decoder reads a kept file on any thread, and no other file`() throws {
                try withKeptFile { sandbox in
                    #expect(sandbox.error(of: "kept")?.description == "letters letters 0 -1")
                    try sandbox.checkOrdinaryImage()
                    #expect(sandbox.statistics.startedWorkers == 1)
                }
            }

            @Test func `a sandbox reports the files that its workers could not keep`() throws {
                try withKeptFile { sandbox in #expect(sandbox.unavailableFileCount == 1) }
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                #expect(sandbox.unavailableFileCount == 0)
            }

            @Test(arguments: [
                ("open", "openat"), ("keptForWriting", "openat"), ("keptMissing", "access"), ("duplicate", "dup"),
                ("connect", "socket"), ("mapCode", "mmap"),
            ])
            func `a worker with a kept file makes no other calls`(misbehavior: String, call: String) throws {
                try withKeptFile { sandbox in
                    let error = sandbox.error(of: misbehavior)

                    #expect(error?.code == .decoderFailed)
                    // On aarch64, access() is faccessat.
                    #expect(error?.description.contains(call) == true, "\(String(describing: error))")
                    #expect(sandbox.statistics.illegalCalls == 1)
                    try sandbox.checkOrdinaryImage()
                }
            }

            @Test func `a worker without kept files reads none`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }

                #expect(sandbox.error(of: "kept")?.description.hasSuffix("openat") == true)
                #expect(sandbox.statistics.illegalCalls == 1)
            }
        }
    }
#endif
