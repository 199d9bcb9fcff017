import AlcedoLibc
import FoundationEssentials

/// A regular file that is read from its beginning. Blocks.
///
/// The descriptor never changes; the file may be used from any thread, by one at a time.
final class LocalFile: Sendable {
    /// What the file claims; some of the kernel's claim no size at all, and a file may grow.
    let size: Int
    private let path: String
    private let file: Int32

    /// Opens without waiting: a pipe or a device could keep the thread for ever.
    ///
    /// - Throws: ``DownloadError`` `invalidSource` or `unreadableFile`.
    init(_ path: String) throws(DownloadError) {
        // The system would take the path to end there, and read another file than the one that was named.
        guard !path.utf8.contains(0) else { throw DownloadError(.invalidSource, "the path has a zero byte in it") }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw Self.refusal(of: path, errno) }
        var status = stat()
        let isThere = fstat(file, &status) == 0
        (self.path, self.file, size) = (path, file, Int(status.st_size))
        guard isThere else { throw Self.refusal(of: path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DownloadError(.unreadableFile, "cannot read \(path): not a regular file")
        }
    }

    deinit { close(file) }

    /// The next bytes: `limit` of them, or fewer at the end.
    ///
    /// - Throws: ``DownloadError`` `unreadableFile`.
    func read(upTo limit: Int) throws(DownloadError) -> Data {
        var data = Data(count: limit)
        var count = 0
        while count < limit {
            let received = data.withUnsafeMutableBytes {
                AlcedoLibc.read(file, $0.baseAddress.map { $0 + count }, limit - count)
            }
            if received < 0 {
                guard errno == EINTR else { throw Self.refusal(of: path, errno) }
                continue
            }
            guard received > 0 else { break }
            count += received
        }
        data.count = count
        return data
    }

    private static func refusal(of path: String, _ number: Int32) -> DownloadError {
        DownloadError(.unreadableFile, "cannot read \(path): \(String(cString: strerror(number)))")
    }
}
