public import FoundationEssentials

/// A date and time as the metadata of a photo states it.
///
/// ```swift
/// let info = try CodecRegistry.standard.inspect(data)
/// if let taken = PhotoProperties(info.metadata).dateTimeOriginal {
///     print(taken)  // 2024-05-17T18:04:05.25, or 2024-05-17T18:04:05.25+02:00
/// }
/// ```
///
/// Most cameras store the local time without a time zone, and some programs store only the date or the year. A part
/// that the file does not state is nil.
public struct PhotoDate: Sendable, Hashable, CustomStringConvertible {
    /// The year, from 1 to 9999.
    public var year: Int
    /// The month, from 1 to 12.
    public var month: Int?
    /// The day of the month, from 1.
    public var day: Int?
    /// The hour, from 0 to 23.
    public var hour: Int?
    /// The minute, from 0 to 59.
    public var minute: Int?
    /// The second, from 0 to 60.
    public var second: Int?
    /// The nanoseconds after the second.
    public var nanosecond: Int?
    /// The difference between the local time and UTC in seconds, positive to the east. Nil if the file does not state
    /// it; the time is then that of an unknown time zone.
    public var secondsFromGMT: Int?

    /// Creates a date with only a year.
    public init(year: Int) { self.year = year }

    /// The instant. Nil if the file does not state the time and its difference from UTC.
    public var date: Date? {
        guard let month, let day, let hour, let minute, let secondsFromGMT else { return nil }
        // The days since 1 March of the year 0 in the Gregorian calendar, with years that begin in March.
        let marchYear = month < 3 ? year - 1 : year
        let days =
            365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400
            + (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let seconds = (days - 719_468) * 86_400 + hour * 3_600 + minute * 60 + (second ?? 0) - secondsFromGMT
        return Date(timeIntervalSince1970: Double(seconds) + Double(nanosecond ?? 0) / 1e9)
    }

    /// The parts in the form of ISO 8601, such as `2024-05-17T18:04:05.25+02:00` or `2024-05`.
    public var description: String {
        func digits(_ number: Int, _ count: Int = 2) -> String {
            String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
        }
        var text = digits(year, 4)
        guard let month else { return text }
        text += "-\(digits(month))"
        guard let day else { return text }
        text += "-\(digits(day))"
        guard let hour, let minute else { return text }
        text += "T\(digits(hour)):\(digits(minute))"
        if let second {
            text += ":\(digits(second))"
            if let nanosecond, nanosecond > 0 {
                var fraction = digits(nanosecond, 9)
                while fraction.last == "0" { fraction.removeLast() }
                text += ".\(fraction)"
            }
        }
        if let secondsFromGMT {
            let minutes = abs(secondsFromGMT) / 60
            text += "\(secondsFromGMT < 0 ? "-" : "+")\(digits(minutes / 60)):\(digits(minutes % 60))"
        }
        return text
    }
}

extension PhotoDate {
    /// Reads a date in the form of EXIF (`2024:05:17 18:04:05`), of XMP (`2024-05-17T18:04:05.25+02:00`) or of IPTC
    /// (`20240517T180405+0200`). Reading ends at the first part that is missing, zero or out of range, such as an
    /// unknown time.
    ///
    /// - Parameters:
    ///   - text: The date, with or without a time.
    ///   - fraction: The decimal digits after the second, if they are stored elsewhere. Default: nil.
    ///   - offset: The difference from UTC, such as `+02:00`, if it is stored elsewhere. Default: nil.
    /// - Returns: nil when the text does not begin with a year.
    init?(_ text: String, fraction: String? = nil, offset: String? = nil) {
        var scanner = DateScanner(text)
        guard let year = scanner.number(4, in: 1...9999) else { return nil }
        self.init(year: year)
        scanner.skip("-:/.")
        guard let month = scanner.number(2, in: 1...12) else { return }
        self.month = month
        scanner.skip("-:/.")
        let isLeapYear = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
        let length = month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
        guard let day = scanner.number(2, in: 1...length) else { return }
        self.day = day
        scanner.skip("T ")
        guard let hour = scanner.number(2, in: 0...23) else { return }
        scanner.skip(":")
        guard let minute = scanner.number(2, in: 0...59) else { return }
        (self.hour, self.minute) = (hour, minute)
        scanner.skip(":")
        second = scanner.number(2, in: 0...60)
        if second != nil {
            if scanner.skip(".,") { nanosecond = scanner.nanoseconds() }
            if nanosecond == nil, let fraction {
                var digits = DateScanner(fraction)
                nanosecond = digits.nanoseconds()
            }
        }
        scanner.skip(" ")
        secondsFromGMT = scanner.offset()
        if secondsFromGMT == nil, let offset {
            var scanner = DateScanner(offset)
            secondsFromGMT = scanner.offset()
        }
    }
}

/// A reader of the parts of a date.
private struct DateScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8.prefix(64))[...]
        skip(" ")
    }

    /// Skips one of these characters. Returns whether there was one.
    @discardableResult mutating func skip(_ characters: String) -> Bool {
        guard let first = rest.first, characters.utf8.contains(first) else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads a number of exactly this many digits. Returns nil when it is not in the range.
    mutating func number(_ count: Int, in range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
        rest.removeFirst(count)
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return range.contains(number) ? number : nil
    }

    /// Reads the decimal digits of a fraction of a second. Digits after the ninth do not count.
    mutating func nanoseconds() -> Int? {
        let digits = rest.prefix(while: Self.isDigit)
        rest.removeFirst(digits.count)
        guard !digits.isEmpty else { return nil }
        return (0..<9).reduce(0) { value, index in
            value * 10 + (index < digits.count ? Int(digits[digits.startIndex + index] - UInt8(ascii: "0")) : 0)
        }
    }

    /// Reads a difference from UTC in seconds: `Z`, or hours and minutes after a sign.
    mutating func offset() -> Int? {
        if skip("Zz") { return 0 }
        let isNegative = rest.first == UInt8(ascii: "-")
        guard skip("+-"), let hours = number(2, in: 0...23) else { return nil }
        skip(":")
        let seconds = hours * 3_600 + (number(2, in: 0...59) ?? 0) * 60
        return isNegative ? -seconds : seconds
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
