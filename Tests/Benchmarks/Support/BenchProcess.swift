import AlcedoProgramSupport
import CProcessRun
import Foundation

/// A child process that responds to each line with a line. Its standard input ends when this object is released or this
/// process ends, and then the child process ends.
///
/// `@unchecked` because of the handles: one task uses them at a time.
final class BenchProcess: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    init(_ path: String, _ arguments: [String], directory: URL? = nil) throws {
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = input
        process.standardOutput = output
        // If another process inherited the descriptors, the child process would not see the end of its input.
        for handle in [input.fileHandleForWriting, output.fileHandleForReading] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Sends a line. Blocks.
    func send(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Returns the next line. Blocks.
    func readLine() throws -> String {
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                defer { unread = Data(unread[(end + 1)...]) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else {
                throw BenchError(
                    description: "\(process.executableURL?.lastPathComponent ?? "a process") exited early")
            }
            unread.append(piece)
        }
    }

    /// Runs a program until it exits and returns its standard output. Blocks.
    static func output(of path: String, _ arguments: [String], directory: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.currentDirectoryURL = directory
        let output = Pipe()
        // Standard error goes to a file, because a second pipe would have to be read at the same time.
        let problems = try Self.unnamedFile()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = problems
        try process.run()
        BenchCleanup.begin(process.processIdentifier)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        BenchCleanup.end(process.processIdentifier)
        guard process.terminationStatus == 0 else {
            try problems.seek(toOffset: 0)
            let message = String(decoding: try problems.read(upToCount: 1 << 16) ?? Data(), as: UTF8.self)
            throw BenchError(description: "\(path) failed: \(message)")
        }
        return text
    }

    /// Returns the path of a program in the directory of this program.
    static func neighbor(_ name: String) -> String {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return program.deletingLastPathComponent().appending(path: name).path
    }

    /// Returns the path of an installed program, or nil.
    static func installed(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program without input and output to its end, and returns its times and its exit status. Blocks.
    static func time(of path: String, _ arguments: [String]) throws -> alcedo_process_time {
        var result = alcedo_process_time()
        let error = withArguments([path] + arguments) { alcedo_process_measure_time(path, $0, &result) }
        guard error == 0 else { throw cannotRun(path, error) }
        return result
    }

    /// Runs a program as ``time(of:_:)`` does, and returns its memory and its exit status. Blocks.
    static func memory(of path: String, _ arguments: [String]) throws -> alcedo_process_memory {
        var result = alcedo_process_memory()
        let error = withArguments([path] + arguments) { alcedo_process_measure_memory(path, $0, &result) }
        guard error == 0 else { throw cannotRun(path, error) }
        return result
    }

    private static func cannotRun(_ path: String, _ error: Int32) -> BenchError {
        BenchError(description: "cannot run \(path): \(String(cString: strerror(error)))")
    }

    /// Calls `body` with the strings and a null pointer after them, in memory that ends after the call.
    static func withArguments<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }

    private static func unnamedFile() throws -> FileHandle {
        guard let file = tmpfile() else { throw BenchError(description: "cannot create a temporary file") }
        defer { fclose(file) }
        return FileHandle(fileDescriptor: fcntl(fileno(file), F_DUPFD_CLOEXEC, 0), closeOnDealloc: true)
    }
}

/// An error of a benchmark that cannot run, with its reason.
struct BenchError: Error, CustomStringConvertible {
    let description: String
}
