import Alcedo
import FoundationEssentials

/// Passes a body on as it arrives, at its reader's pace, and reports the exchange when it has ended.
final class WatchedBody: HTTPBodySource {
    private let body: HTTPBody
    private let transfer: HTTPTransferRecord?
    private let log: TransferLog
    /// nil when it has been told.
    private let report: Locked<TransferReport?>

    init(_ response: HTTPResponse, _ report: TransferReport, _ log: TransferLog) {
        (body, transfer, self.log) = (response.body, response.transfer, log)
        self.report = Locked(report)
    }

    func next() async throws -> Data? {
        // The iterator has no state of its own: all of them read on from the same place.
        var iterator = body.makeAsyncIterator()
        do {
            guard let piece = try await iterator.next() else {
                finish(.whole)
                return nil
            }
            report.withLock { $0?.byteCount += piece.count }
            return piece
        } catch {
            finish(.failed(error))
            throw error
        }
    }

    /// Tells of the exchange when its transport has ended it, and so measured it.
    func cancel() {
        body.cancel()
        finish(.left)
    }

    private func finish(_ end: TransferReport.End) {
        guard var report = report.withLock({ $0.take() }) else { return }
        report.finish(end, transfer?.metrics)
        log.end(report)
    }
}
