/// A range of bytes in a `Range` field. Source: RFC 9110 section 14.1.2.
package enum ByteRange: Equatable {
    /// The bytes from an offset through a last position. If the last position is nil, the range extends to the end.
    case from(Int, through: Int?)
    /// The given number of bytes at the end.
    case last(Int)

    /// Creates a range from the value of a `Range` field. Returns nil unless the value is exactly one range of bytes.
    package init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), text[..<equals].trimmingBlanks.lowercased() == "bytes" else {
            return nil
        }
        let spec = text[text.index(after: equals)...].trimmingBlanks
        guard let dash = spec.firstIndex(of: "-") else { return nil }
        let (first, last) = (spec[..<dash], spec[spec.index(after: dash)...])
        switch (Self.offset(first), Self.offset(last)) {
        case (let first?, let last?) where first <= last: self = .from(first, through: last)
        case (let first?, nil) where last.isEmpty: self = .from(first, through: nil)
        case (nil, let count?) where first.isEmpty: self = .last(count)
        default: return nil
        }
    }

    /// Whether the range has a last position. Otherwise it extends to the end of the content.
    package var hasLastPosition: Bool { if case .from(_, through: _?) = self { true } else { false } }

    /// Returns the range within content of `count` bytes; nil if it contains no byte.
    package func resolved(in count: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < count else { return nil }
            return first..<min(count, (last ?? count - 1).addingOne)
        case .last(let wanted): return wanted > 0 && count > 0 ? max(0, count - wanted)..<count : nil
        }
    }

    private static func offset(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // An offset larger than `Int.max` is beyond the end of any content.
        return Int(text) ?? Int.max
    }
}

extension Int {
    fileprivate var addingOne: Int { self == Int.max ? self : self + 1 }
}

/// The range of the content that a response holds. Source: RFC 9110 section 14.4.
package struct ContentRange: Equatable {
    /// The offsets of the response's bytes in the whole content.
    package let bytes: Range<Int>
    /// The number of bytes of the whole content; nil if the server does not specify it.
    package let completeCount: Int?

    /// Creates a range from the value of a `Content-Range` field. Returns nil if the value contains no valid range of
    /// bytes, as in `bytes */100`.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, case .from(let first, let last?)? = ByteRange("bytes=\(parts[0])"), last < Int.max
        else {
            return nil
        }
        bytes = first..<(last + 1)
        if parts[1] == "*" {
            completeCount = nil
        } else {
            guard case .from(let count, nil)? = ByteRange("bytes=\(parts[1])-"), count > last, count < Int.max else {
                return nil
            }
            completeCount = count
        }
    }

    package init(bytes: Range<Int>, completeCount: Int?) {
        self.bytes = bytes
        self.completeCount = completeCount
    }

    package var text: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeCount.map { String($0) } ?? "*")"
    }
}
