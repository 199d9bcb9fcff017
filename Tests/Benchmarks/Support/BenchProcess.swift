import AlcedoProgramSupport
import Foundation

/// A process that answers lines with lines, until it is let go, or this process ends in whatever way: its standard
/// input ends then.
///
/// `@unchecked` because of the handles: one task uses them at a time.
final class BenchProcess: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    init(_ path: String, _ arguments: [String], folder: URL? = nil) throws {
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = input
        process.standardOutput = output
        // Another process that had a copy would keep this one waiting for the end of its input.
        for handle in [input.fileHandleForWriting, output.fileHandleForReading] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Blocks.
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

    /// Runs a program to its end, and returns what it wrote to its standard output. Blocks.
    static func output(of path: String, _ arguments: [String], folder: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        // A file takes all that it says, where a pipe would have to be read at the same time.
        let problems = try Self.namelessFile()
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
            let words = String(decoding: try problems.read(upToCount: 1 << 16) ?? Data(), as: UTF8.self)
            throw BenchError(description: "\(path) fails: \(words)")
        }
        return text
    }

    private static func namelessFile() throws -> FileHandle {
        guard let file = tmpfile() else { throw BenchError(description: "cannot create a temporary file") }
        defer { fclose(file) }
        return FileHandle(fileDescriptor: fcntl(fileno(file), F_DUPFD_CLOEXEC, 0), closeOnDealloc: true)
    }
}

/// A benchmark that could not be run as it says.
struct BenchError: Error, CustomStringConvertible {
    let description: String
}
