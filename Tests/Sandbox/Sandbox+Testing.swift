#if Sandbox
    import AlcedoCodecs
    import AlcedoCore
    import AlcedoLibc
    import AlcedoSandbox
    import Foundation
    import TestSupport
    import Testing

    /// All suites of the module. They count processes and descriptors, so they run one after another.
    @Suite(
        .serialized, .spawnsProcesses, .enabled(if: !keepsFreedMemory && !recordsAccesses, "sanitizers map terabytes"))
    enum SandboxTests {}

    extension ImageFormat {
        /// The format whose decoder misbehaves in the way that the file names.
        static let hostile = ImageFormat(rawValue: "hostile")
    }

    extension SandboxConfiguration {
        /// A configuration whose workers are the program with hostile decoders.
        static func testing(workers: Int = 1, _ change: (inout Self) -> Void = { _ in }) throws -> Self {
            var configuration = Self()
            configuration.executable = try ChildProcess.path(of: "sandbox-test-worker")
            configuration.workerCount = workers
            configuration.maximumMemoryByteCount = 256 << 20
            configuration.maximumInputByteCount = 16 << 20
            configuration.maximumOutputByteCount = 16 << 20
            change(&configuration)
            return configuration
        }
    }

    extension Sandbox {
        static func testing(workers: Int = 1, _ change: (inout SandboxConfiguration) -> Void = { _ in }) throws
            -> Sandbox
        {
            try Sandbox(.testing(workers: workers, change))
        }

        /// Decodes an ordinary image of the hostile format. Records a failure if it is not right.
        func checkOrdinaryImage(side: Int = 9, location: SourceLocation = #_sourceLocation) throws {
            let image = try SandboxedDecoder(.hostile, in: self).decode(
                Data("gray \(side)".utf8), options: DecodingOptions())
            #expect(image.size == PixelSize(width: side, height: side), sourceLocation: location)
            #expect(image.pixels.tightBytes.allSatisfy { Int($0) == side & 0xFF }, sourceLocation: location)
        }

        /// Returns the error of decoding a misbehavior, or nil.
        func error(of misbehavior: String) -> ImageDecodingError? {
            do throws(ImageDecodingError) {
                _ = try SandboxedDecoder(.hostile, in: self).decode(Data(misbehavior.utf8), options: DecodingOptions())
                return nil
            } catch {
                return error
            }
        }
    }

    extension Sandbox {
        /// Returns the error of decoding a misbehavior row by row, or nil.
        func errorOfRows(_ misbehavior: String) -> ImageDecodingError? {
            do {
                try SandboxedDecoder(.hostile, in: self).decodeRows(
                    Data(misbehavior.utf8), options: DecodingOptions(), into: PixelRowCollector())
                return nil
            } catch {
                return error as? ImageDecodingError
            }
        }
    }

    /// The worker processes of this test process, from /proc.
    enum Workers {
        static var ids: [Int32] {
            let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return entries.compactMap { Int32($0) }.filter { id in
                field("PPid", of: id) == String(getpid())
                    && (try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8))?
                        .contains("--alcedo-sandbox-worker") == true
            }
        }

        /// Returns a field of /proc/N/status.
        static func field(_ name: String, of id: Int32) -> String? {
            let text = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(separator: "\t").last.map(String.init)
        }

        /// Returns the CPU time of a process in clock ticks, from /proc/N/stat.
        static func ticks(of id: Int32) -> Int {
            let text = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ""
            let fields = text.split(separator: " ")
            return fields.count > 13 ? Int(fields[13]) ?? 0 : 0
        }

        /// The descriptors of this process that belong to sandboxes: shared memory and references to processes.
        static var descriptorCount: Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let own = names.filter { name in
                let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) ?? ""
                return target.contains("alcedo-sandbox") || target.contains("pidfd") || target.hasSuffix("/statm")
            }
            return own.count
        }
    }
#endif
