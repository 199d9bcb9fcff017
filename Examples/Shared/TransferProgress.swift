import Alcedo

/// How far one image's bytes have come, as last told; nil: nobody has said anything.
final class TransferProgress: Sendable {
    private let last = Locked<DownloadProgress?>(nil)

    var value: DownloadProgress? {
        get { last.withLock { $0 } }
        set { last.withLock { $0 = newValue } }
    }
}
