/// What a progress line says, as far as there is room for it.
struct ProgressText {
    /// In columns.
    private static let (longestBar, shortestBar) = (24, 8)

    var finished: Int
    var total: Int
    /// Images that have ended, and the parts of those under way.
    var done: Double
    var imagesPerSecond: Double?
    var secondsLeft: Double?
    /// What has arrived, and of how much.
    var bytes: String
    var bytesPerSecond: Int

    /// Leaves out whole words, those that say least first.
    ///
    /// - Parameter room: In columns.
    func text(in room: Int) -> String {
        var words = [(text: count, weight: 5)]
        if let rate { words.append((rate, 3)) }
        if let time { words.append((time, 4)) }
        words += [(bytes, 1), ("\(bytesPerSecond / 1024) KiB/s", 2)]
        func width() -> Int { words.reduce(2 * (words.count - 1)) { $0 + $1.text.count } }
        while words.count > 1, width() + 1 + Self.shortestBar > room {
            let least = words.map(\.weight).min()
            words.removeAll { $0.weight == least }
        }
        let barWidth = min(Self.longestBar, room - width() - 1)
        let bar = barWidth < Self.shortestBar ? "" : bar(barWidth) + " "
        let text = bar + words.map(\.text).joined(separator: ", ")
        // A line that wraps could not be cleared.
        return text.count <= room ? text : ""
    }

    private var count: String { "\(finished)/\(total) images" }

    private var rate: String? {
        imagesPerSecond.map { rate in
            let tenths = Int(min(rate, 1e9) * 10)
            return "\(tenths / 10).\(tenths % 10) images/s"
        }
    }

    private var time: String? {
        secondsLeft.map { seconds in
            // A server may announce any number of bytes.
            let left = Int(min(seconds, 1e9)) + 1
            let (minutes, rest) = (left / 60, left % 60)
            return minutes < 60
                ? "\(minutes):\(rest < 10 ? "0" : "")\(rest) left" : "\(minutes / 60) h \(minutes % 60) min left"
        }
    }

    /// Full when all have ended, and not before.
    private func bar(_ width: Int) -> String {
        let filled = finished >= total ? width : min(width - 1, Int(done / Double(total) * Double(width)))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }
}
