import Foundation

/// The measurements of one operation or structure for several sizes.
struct GrowthSeries: Codable, Equatable {
    /// The quantity whose time is measured.
    enum Quantity: String, Codable {
        /// All operations of a size together. Linear growth has the exponent 1.
        case total
        /// One look-up in a structure of a size. Constant time has the exponent 0.
        case lookup
    }

    struct Point: Codable, Equatable {
        /// The number of entries, requests, frames or the like; at least 1.
        let size: Int
        /// The time of the quantity in seconds.
        let seconds: Double
        /// The growth of resident memory in bytes.
        let bytes: Int
    }

    let name: String
    let quantity: Quantity
    /// The points with increasing sizes.
    var points: [Point]

    /// The exponent of the growth of the time over all points; nil with fewer than two sizes.
    var exponent: Double? { Self.exponent(of: points) }

    /// The exponent from the last size but one to the last, where constant costs hide the least; nil with fewer than
    /// two sizes.
    var lastExponent: Double? { Self.exponent(of: points.suffix(2)) }

    /// The highest exponent that counts as linear, or for a look-up as constant. The time of a look-up also grows
    /// because larger structures exceed the caches of the processor.
    var exponentLimit: Double {
        switch quantity {
        case .total: 1.15
        case .lookup: 0.15
        }
    }

    /// The exponent with its limit as the goal, for the report; nil with fewer than two sizes. It has a unit, because
    /// exponents are not compared with thresholds. It is at least 0.01, because the plot of the report is logarithmic.
    var figure: BenchFigure? {
        exponent.map { exponent in
            BenchFigure(
                "growth of the time, \(name)", max(0.01, exponent),
                unit: quantity == .total ? " (total)" : " (look-up)", .atMost(exponentLimit))
        }
    }

    /// Whether the exponent exceeds its limit.
    var isFlagged: Bool { exponent.map { $0 > exponentLimit } ?? false }

    /// The time of one operation in seconds: that of a look-up, or the total divided by the size.
    func secondsOfOne(_ point: Point) -> Double {
        switch quantity {
        case .total: point.seconds / Double(point.size)
        case .lookup: point.seconds
        }
    }

    /// The bytes of each item, from the first size to the last, so that constant memory does not count; nil with fewer
    /// than two sizes.
    var bytesOfOne: Double? {
        guard let first = points.first, let last = points.last, last.size > first.size else { return nil }
        return Double(last.bytes - first.bytes) / Double(last.size - first.size)
    }

    /// Returns the slope of the line through the logarithms of size and time with the least squares. Returns nil unless
    /// there are two sizes with a positive time.
    static func exponent(of points: some Sequence<Point>) -> Double? {
        let logarithms = points.filter { $0.size > 0 && $0.seconds > 0 }
            .map { (x: log(Double($0.size)), y: log($0.seconds)) }
        guard let first = logarithms.first, logarithms.contains(where: { $0.x != first.x }) else { return nil }
        let count = Double(logarithms.count)
        let meanX = logarithms.reduce(0) { $0 + $1.x } / count
        let meanY = logarithms.reduce(0) { $0 + $1.y } / count
        let covariance = logarithms.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) }
        let variance = logarithms.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        return covariance / variance
    }
}

/// The results of `alcedo-bench growth` as a table.
struct GrowthTable {
    let series: [GrowthSeries]

    /// The table in Markdown, one row for each series.
    var markdown: String {
        var lines = [
            "| Series | n | time of one | exponent | last step | memory | each | |", "|--|--|--|--|--|--|--|--|",
        ]
        lines += series.map { "| " + cells($0).joined(separator: " | ") + " |" }
        return lines.joined(separator: "\n") + "\n"
    }

    private func cells(_ series: GrowthSeries) -> [String] {
        guard let first = series.points.first, let last = series.points.last else {
            return [series.name] + Array(repeating: "", count: 7)
        }
        let quantity = series.quantity == .total ? "total" : "look-up"
        return [
            series.name, Self.range(Self.number(first.size), Self.number(last.size)),
            Self.range(Self.time(series.secondsOfOne(first)), Self.time(series.secondsOfOne(last))),
            series.exponent.map { "\(Self.rounded($0)) (\(quantity))" } ?? "",
            series.lastExponent.map { "\(Self.rounded($0))" } ?? "", Self.memory(Double(last.bytes)),
            series.bytesOfOne.map { Self.memory(max(0, $0)) } ?? "",
            series.isFlagged ? "above \(series.exponentLimit)" : "",
        ]
    }

    private static func range(_ first: String, _ last: String) -> String {
        first == last ? first : "\(first) to \(last)"
    }

    /// Returns a value with two decimals. The sum has no negative zero.
    static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 + 0 }

    /// Returns a number with its thousands separated.
    static func number(_ value: Int) -> String {
        var (text, rest) = ("", String(value))
        while rest.count > 3 {
            text = ",\(rest.suffix(3))\(text)"
            rest.removeLast(3)
        }
        return rest + text
    }

    /// Returns a time with its unit and three digits.
    static func time(_ seconds: Double) -> String {
        for (unit, factor) in [("s", 1.0), ("ms", 1e3), ("µs", 1e6)] where seconds * factor >= 1 {
            return "\(digits(seconds * factor)) \(unit)"
        }
        return "\(digits(seconds * 1e9)) ns"
    }

    /// Returns a number of bytes with its unit and three digits.
    static func memory(_ bytes: Double) -> String {
        for (unit, factor) in [("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10)] where bytes >= factor {
            return "\(digits(bytes / factor)) \(unit)"
        }
        return "\(digits(bytes)) B"
    }

    private static func digits(_ value: Double) -> String {
        if value >= 100 { return "\(Int(value.rounded()))" }
        let scale = value >= 10 ? 10.0 : 100.0
        return "\((value * scale).rounded() / scale)"
    }
}
