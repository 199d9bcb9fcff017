import AlcedoLibc

/// Reads the small files in which the kernel tells its figures, below a folder that stands for `/`.
struct SystemFiles: Sendable {
    /// Most bytes that are read of a file. A longer one is cut after its last whole line.
    static let byteLimit = 64 << 10

    private let root: String

    /// - Parameter root: Absolute path of the folder that stands for `/`.
    init(root: String = "/") {
        self.root = root.utf8.last == UInt8(ascii: "/") ? String(root.dropLast()) : root
    }

    /// The path under which the system knows a file.
    ///
    /// - Parameter path: Begins with a slash.
    func path(_ path: String) -> String { root + path }

    /// The bytes of a file, or nil when there is none or the system refuses.
    ///
    /// Never waits: a FIFO without a writer is empty. O(length of the file), at most ``byteLimit``.
    func contents(_ path: String) -> [UInt8]? {
        let file = open(self.path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var isRefused = false
        let limit = Self.byteLimit
        var bytes = [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
            while count < limit {
                let step = read(file, memory.baseAddress.map { $0 + count }, limit - count)
                if step < 0, errno == EINTR { continue }
                isRefused = step < 0
                guard step > 0 else { return }
                count += step
            }
        }
        guard !isRefused else { return nil }
        // Half a number is a wrong number.
        if bytes.count == limit { bytes.removeSubrange(((bytes.lastIndex(of: 0x0A) ?? -1) + 1)...) }
        return bytes
    }
}
