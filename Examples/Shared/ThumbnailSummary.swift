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
        let seconds = max(duration / .seconds(1), 0.001)
        return "thumbnails: \(written) written, \(problems.count) failed, \(bytesIn) bytes in, \(bytesOut) bytes out, "
            + "\(Self.hundredths(seconds)) s, \(Self.hundredths(Double(written) / seconds)) images a second\n"
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
