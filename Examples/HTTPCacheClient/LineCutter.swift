import FoundationEssentials

/// Cuts bytes into lines. Empty lines are left out.
struct LineCutter {
    enum Line: Sendable, Equatable {
        /// The bytes of a line, without its end.
        case text(Data)
        /// A line of more bytes than this, which are gone.
        case tooLong(limit: Int)
    }

    private let limit: Int
    private var begun = Data()
    private var isTooLong = false

    /// - Parameter limit: Most bytes of a line. Default: 64 MiB.
    init(limit: Int = 64 << 20) { self.limit = limit }

    /// Takes more bytes and returns the lines that they complete.
    mutating func cut(_ bytes: ArraySlice<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            if let line = finish() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        append(rest)
        return lines
    }

    /// What was begun and not ended.
    mutating func finish() -> Line? {
        defer { (begun, isTooLong) = (Data(), false) }
        if isTooLong { return .tooLong(limit: limit) }
        return begun.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } ? nil : .text(begun)
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        isTooLong = bytes.count > limit - begun.count
        if isTooLong { begun = Data() } else { begun.append(contentsOf: bytes) }
    }
}
