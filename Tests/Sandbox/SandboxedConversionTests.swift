#if Sandbox
    import AlcedoCore
    import AlcedoSandbox
    import Foundation
    import TestSupport
    import Testing

    extension SandboxTests {
        @Suite struct SandboxedConversionTests {
            private static func code(_ sandbox: Sandbox, _ file: String) -> ImageDecodingError.Code? {
                do throws(ImageDecodingError) {
                    _ = try sandbox.convert(Data(file.utf8), by: "hostile")
                    return nil
                } catch {
                    return error.code
                }
            }

            @Test func `a file is converted with its argument and its limits`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

                #expect(try sandbox.convert(bytes, by: "reverse") == Data(bytes.reversed()))
                #expect(try sandbox.convert(Data(), by: "reverse") == Data())
                #expect(try sandbox.convert(bytes, by: "repeat", argument: 3) == bytes + bytes + bytes)
                let limits = DecodingLimits(maximumPixelCount: 77)
                #expect(try sandbox.convert(bytes, by: "limit", limits: limits) == Data("77".utf8))
                #expect(sandbox.statistics.requests == 4)
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `files and results beyond the limits, and unknown names, are errors`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let megabyte = Data(count: 1 << 20)
                for (data, name, argument, code) in [
                    (Data(count: 17 << 20), "reverse", 0, ImageDecodingError.Code.exceedsLimit),
                    (megabyte, "repeat", 17, .exceedsLimit), (megabyte, "unknown", 0, .decoderUnavailable),
                    (Data(), String(repeating: "n", count: 65), 0, .decoderUnavailable),
                ] {
                    let error = #expect(throws: ImageDecodingError.self) {
                        try sandbox.convert(data, by: name, argument: argument)
                    }
                    #expect(error?.code == code)
                }
                #expect(try sandbox.convert(megabyte, by: "repeat", argument: 16).count == 16 << 20)
                let twice = try sandbox.convert(megabyte, by: "repeat", argument: 2, maximumByteCount: 2 << 20)
                #expect(twice.count == 2 << 20)
                let error = #expect(throws: ImageDecodingError.self) {
                    try sandbox.convert(megabyte, by: "repeat", argument: 2, maximumByteCount: (2 << 20) - 1)
                }
                #expect(error?.code == .exceedsLimit)
                #expect(sandbox.statistics.violations == 0)
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test(arguments: [
                ("segfault", ImageDecodingError.Code.decoderFailed), ("trap", .decoderFailed), ("kill", .outOfMemory),
                ("open", .decoderFailed), ("connect", .decoderFailed), ("kind", .decoderFailed),
                ("offset", .decoderFailed), ("negative", .decoderFailed), ("endless", .decoderFailed),
                ("shortMessage", .decoderFailed), ("loop", .timedOut), ("corrupt", .corrupt), ("other", .decoderFailed),
            ])
            func `a conversion that misbehaves costs only its own file`(
                file: String, code: ImageDecodingError.Code
            ) throws {
                let sandbox = try Sandbox.testing { $0.timeLimit = .seconds(2) }
                defer { sandbox.shutDown() }

                #expect(Self.code(sandbox, file) == code)

                #expect(try sandbox.convert(Data([1, 2]), by: "reverse") == Data([2, 1]))
                try sandbox.checkOrdinaryImage()
            }
        }
    }
#endif
