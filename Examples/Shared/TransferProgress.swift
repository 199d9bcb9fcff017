import Alcedo

/// How far one image's bytes have come.
final class TransferProgress: Sendable {
    private struct Reports {
        var first: DownloadProgress
        var last: DownloadProgress
    }

    private let reports = Locked<Reports?>(nil)

    /// As first told, before a byte of this run: what it has came from an earlier one. nil: nobody has said anything.
    var first: DownloadProgress? { reports.withLock { $0?.first } }

    /// As last told; nil: nobody has said anything.
    var last: DownloadProgress? { reports.withLock { $0?.last } }

    func report(_ progress: DownloadProgress) {
        reports.withLock { $0 = Reports(first: $0?.first ?? progress, last: progress) }
    }
}
