import Foundation

/// The system calls that a put and a get need at least, on files in 256 folders, by paths that are ready.
struct BareFiles: Sendable {
    private let paths: [[CChar]]
    private let temporary: [[CChar]]

    /// Makes the folders.
    init(directory: URL, count: Int) throws {
        paths = (0..<count).map { number in
            let name = String(number &* 2_654_435_761 & 0xFFFF_FFFF, radix: 16)
            return Array("\(directory.path)/\(number % 256)/\(name)-\(String(repeating: "0", count: 50))".utf8CString)
        }
        temporary = (0..<count).map { Array("\(directory.path)/unfinished/\($0)".utf8CString) }
        for folder in (0..<256).map(String.init) + ["unfinished"] {
            try FileManager.default.createDirectory(
                at: directory.appending(path: folder), withIntermediateDirectories: true)
        }
    }

    func put(_ number: Int, _ bytes: [UInt8]) {
        let file = open(temporary[number], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
        precondition(written == bytes.count && rename(temporary[number], paths[number]) == 0)
    }

    func get(_ number: Int, _ count: Int) {
        let file = open(paths[number], O_RDONLY | O_CLOEXEC)
        let memory = malloc(count)
        let read = pread(file, memory, count, 0)
        close(file)
        free(memory)
        precondition(read == count)
    }
}
