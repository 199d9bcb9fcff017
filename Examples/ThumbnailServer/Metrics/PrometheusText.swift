/// Writes numbers as Prometheus reads them. Source: its text-based exposition format, version 0.0.4.
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

    /// One number for each value of a label.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, label: String, _ values: [(String, Int)]) {
        begin(name, kind.rawValue, help)
        for (value, number) in values { text += "\(name){\(label)=\"\(Self.escaped(value))\"} \(number)\n" }
    }

    mutating func add(_ name: String, _ help: String, _ buckets: DurationBuckets) {
        begin(name, "histogram", help)
        var count = 0
        for (end, number) in zip(DurationBuckets.ends.map { "\($0)" } + ["+Inf"], buckets.counts) {
            count += number
            text += "\(name)_bucket{le=\"\(end)\"} \(count)\n"
        }
        text += "\(name)_sum \(buckets.sum)\n\(name)_count \(count)\n"
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
