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
            data = try DataURL.decode(text)
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

    /// Regular files only: a pipe or a device could keep the thread for ever.
    private func readFile(_ path: String) throws(DownloadError) -> Data {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw DownloadError(.unreadableFile, "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DownloadError(.unreadableFile, "cannot read \(path): not a regular file")
        }
        guard status.st_size <= maximumByteCount else {
            throw DownloadError(.tooLarge, "\(path) has \(status.st_size) bytes, more than \(maximumByteCount)")
        }
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw DownloadError(.unreadableFile, "cannot read \(path): \(error)", cause: error)
        }
    }
}
