import FoundationEssentials
import Glibc

/// A file beside the one that a content is for. Goes with the value at the latest, unless it was moved into its place.
/// Blocks.
///
/// The descriptor and the path never change, so the file may be used from any thread, by one at a time.
final class UnfinishedDownload: Sendable {
    private let target: String
    private let path: String
    private let file: Int32

    /// - Throws: ``DownloadError`` `unwritableFile`.
    init(for target: String) throws(DownloadError) {
        guard !target.isEmpty, !target.utf8.contains(0) else {
            throw DownloadError(.unwritableFile, "\(target.debugDescription) is no path")
        }
        self.target = target
        path = "\(target).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.refusal(of: target, errno) }
    }

    deinit {
        close(file)
        discard()
    }

    /// Removes the file. Does nothing when it was moved: the name is nobody else's.
    func discard() { unlink(path) }

    func append(_ piece: Data) throws(DownloadError) {
        var rest = piece[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if written < 0 {
                guard errno == EINTR else { throw Self.refusal(of: target, errno) }
                continue
            }
            rest = rest.dropFirst(written)
        }
    }

    func removeAll() throws(DownloadError) {
        guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else { throw Self.refusal(of: target, errno) }
    }

    /// Gives the file its place, replacing what is there, when its bytes are on the disk.
    func moveIntoPlace() throws(DownloadError) {
        guard fdatasync(file) == 0, rename(path, target) == 0 else { throw Self.refusal(of: target, errno) }
    }

    private static func refusal(of target: String, _ number: Int32) -> DownloadError {
        DownloadError(.unwritableFile, "cannot write \(target): \(String(cString: strerror(number)))")
    }
}
