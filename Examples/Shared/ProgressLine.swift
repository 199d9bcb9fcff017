import Alcedo

/// One line on the terminal that says how far a run is, rewritten in place; silent when nobody watches.
actor ProgressLine {
    private var isVisible: Bool
    private let total: Int
    private var finished = 0
    private var bytes: [Int: Int] = [:]
    private var lastShown = ContinuousClock.now - .seconds(1)

    init(total: Int, isVisible: Bool) {
        self.total = total
        self.isVisible = isVisible
    }

    func received(_ count: Int, for index: Int) {
        bytes[index] = count
        let now = ContinuousClock.now
        guard now - lastShown > .milliseconds(50) else { return }
        lastShown = now
        show()
    }

    func finishedOne() {
        finished += 1
        show()
    }

    /// Clears the line, so that what follows begins on a clean one.
    func end() {
        if isVisible { Console.progress("\r\u{1B}[K") }
        // A late report of bytes must not write over what follows.
        isVisible = false
    }

    private func show() {
        guard isVisible else { return }
        let kilobytes = bytes.values.reduce(0, +) / 1024
        let filled = total == 0 ? 0 : finished * 24 / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
        Console.progress("\r\u{1B}[K\(bar) \(finished)/\(total) images, \(kilobytes) KiB")
    }
}
