import AlcedoCore
import FoundationEssentials
import Glibc

/// Reads sources that are not servers.
struct LocalReader: Sendable {
    let maximumByteCount: Int
    private let files = BlockingExecutor(name: "alcedo.files", width: 2)

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// - Throws: ``DownloadError``, or `CancellationError`.
    func read(_ source: ImageSource) async throws -> Data {
        let data: Data
        switch source {
        case .http(let request):
            throw DownloadError(.invalidSource, "not a local source: \(request.url.absoluteString)")
        case .file(let path):
            data = try await files.run { try readFile(path) }
        case .dataURL(let text):
            data = try await files.run { try DataURL.decode(text) }
        case .bytes(let bytes, _):
            data = bytes
        case .provider(let identity, let provide):
            do {
                data = try await provide()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw DownloadError(.provider, "the provider \(identity) failed: \(error)", cause: error)
            }
        }
        guard data.count <= maximumByteCount else {
            throw DownloadError(.tooLarge, "the source has \(data.count) bytes, more than \(maximumByteCount)")
        }
        return data
    }

    /// Regular files only, opened without waiting: a pipe or a device could keep the thread for ever.
    private func readFile(_ path: String) throws(DownloadError) -> Data {
        // The system would take the path to end there, and read another file than the one that was named.
        guard !path.utf8.contains(0) else { throw DownloadError(.invalidSource, "the path has a zero byte in it") }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw refusal(of: path, errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw refusal(of: path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DownloadError(.unreadableFile, "cannot read \(path): not a regular file")
        }
        return try contents(of: file, path: path, size: Int(status.st_size))
    }

    /// Reads to the end, wherever that is: a file may grow meanwhile, and some of the kernel's claim no size at all.
    private func contents(of file: Int32, path: String, size: Int) throws(DownloadError) -> Data {
        let limit = min(maximumByteCount, Int.max - 1)
        guard size <= limit else { throw excess(of: path, size) }
        // One byte more than expected finds the end without growing.
        var data = Data(count: max(0, size) + 1)
        var count = 0
        while true {
            let room = data.count - count
            let received = data.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + count }, room) }
            if received < 0 {
                guard errno == EINTR else { throw refusal(of: path, errno) }
                continue
            }
            guard received > 0 else { break }
            count += received
            guard count <= limit else { throw excess(of: path, count) }
            if count == data.count { data.count = min(max(64 << 10, 2 * count), limit + 1) }
        }
        data.count = count
        return data
    }

    private func excess(of path: String, _ count: Int) -> DownloadError {
        DownloadError(.tooLarge, "\(path) has \(count) bytes, more than \(maximumByteCount)")
    }

    private func refusal(of path: String, _ number: Int32) -> DownloadError {
        DownloadError(.unreadableFile, "cannot read \(path): \(String(cString: strerror(number)))")
    }
}
