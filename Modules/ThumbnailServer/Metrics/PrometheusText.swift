/// A text of metrics in the Prometheus text-based exposition format, version 0.0.4.
struct PrometheusText {
    static let type = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String {
        case counter, gauge
    }

    private(set) var text = ""

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some Numeric) {
        begin(name, kind.rawValue, help)
        text += "\(name) \(value)\n"
    }

    /// Adds a metric with one number for each value of a label.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, label: String, _ values: [(String, Int)]) {
        begin(name, kind.rawValue, help)
        for (value, number) in values { text += "\(name){\(label)=\"\(Self.escaped(value))\"} \(number)\n" }
    }

    mutating func add(_ name: String, _ help: String, _ histogram: LatencyHistogram) {
        begin(name, "histogram", help)
        var count = 0
        for (end, number) in zip(LatencyHistogram.upperBounds.map { "\($0)" } + ["+Inf"], histogram.counts) {
            count += number
            text += "\(name)_bucket{le=\"\(end)\"} \(count)\n"
        }
        text += "\(name)_sum \(histogram.sum)\n\(name)_count \(count)\n"
    }

    private mutating func begin(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(character)
            }
        }.joined()
    }
}

/// A Prometheus histogram of durations with fixed buckets.
struct LatencyHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets, in seconds.
    static let upperBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// The number of durations in each bucket. The last bucket counts durations above all bounds.
    private(set) var counts = [Int](repeating: 0, count: upperBounds.count + 1)
    /// The sum of all durations, in seconds.
    private(set) var sum = 0.0

    mutating func add(_ duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        counts[Self.upperBounds.firstIndex { seconds <= $0 } ?? Self.upperBounds.count] += 1
        sum += seconds
    }
}
