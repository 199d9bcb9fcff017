import Alcedo

/// What became of many thumbnails.
struct ThumbnailSummary: Sendable {
    /// By the image's index.
    var problems: [Int: String] = [:]
    private var written = 0
    private var bytesIn = 0
    private var bytesOut = 0

    mutating func add(_ outcome: ThumbnailJob.Outcome) {
        bytesIn += outcome.bytesIn
        switch outcome.result {
        case .success(let count):
            written += 1
            bytesOut += count
        case .failure(let error): problems[outcome.index] = "\(error)"
        }
    }

    func text(in duration: Duration) -> String {
        "thumbnails: \(written) written, \(problems.count) failed, \(bytesIn) bytes in, \(bytesOut) bytes out, "
            + "\(RunTime(duration).text(for: written))\n"
    }
}
