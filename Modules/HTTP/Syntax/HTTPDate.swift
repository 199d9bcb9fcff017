package import FoundationEssentials

/// The parsing and formatting of HTTP dates. Source: RFC 9110 section 5.6.7.
package enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    /// Parses a date in any of the three formats. Returns nil if the text has none of them, or if the date does not
    /// exist.
    ///
    /// Case is ignored. The weekday must be valid, but need not match the date.
    ///
    /// - Parameters:
    ///   - text: The date.
    ///   - now: The current time. It determines the century of a two-digit year, which is at most 50 years in the
    ///     future.
    package static func parse(_ text: String, now: Date) -> Date? {
        let parts = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        if first.last == "," {
            guard parts.last == "gmt" else { return nil }
            let weekday = String(first.dropLast())
            if parts.count == 6, isShort(weekday) {
                // Sun, 06 Nov 1994 08:49:37 GMT
                return date(year: number(parts[3], digits: 4), parts[2], number(parts[1], digits: 2), parts[4])
            }
            if parts.count == 4, days.contains(weekday) {
                // Sunday, 06-Nov-94 08:49:37 GMT
                let day = parts[1].split(separator: "-", omittingEmptySubsequences: false)
                guard day.count == 3, let short = number(day[2], digits: 2) else { return nil }
                return shortYearDate(short, day[1], number(day[0], digits: 2), parts[2], now: now)
            }
            return nil
        }
        // Sun Nov  6 08:49:37 1994
        guard isShort(String(first)), parts.count == 5 || (parts.count == 6 && parts[2].isEmpty) else { return nil }
        let day = number(parts[parts.count - 3], digits: parts.count == 6 ? 1 : 2)
        return date(year: number(parts[parts.count - 1], digits: 4), parts[1], day, parts[parts.count - 2])
    }

    /// Returns the date in the preferred format (IMF-fixdate), rounded down to seconds. A date before the year 1 or
    /// after the year 9999 is replaced by the nearest date in that range.
    package static func format(_ date: Date) -> String {
        // The format can represent the years 1 to 9999.
        let seconds = Int(min(max(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799).rounded(.down))
        let (day, second) = (floorDivide(seconds, 86_400), seconds - floorDivide(seconds, 86_400) * 86_400)
        let civil = CivilDate(daysSince1970: day)
        let weekday = days[(day % 7 + 11) % 7].prefix(3).capitalizedFirst
        let month = months[civil.month - 1].prefix(3).capitalizedFirst
        let time = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekday), \(padded(civil.day, 2)) \(month) \(padded(civil.year, 4)) \(time) GMT"
    }

    private static func shortYearDate(
        _ year: Int, _ month: Substring, _ day: Int?, _ time: Substring, now: Date
    ) -> Date? {
        let seconds = min(max(now.timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
        let current = CivilDate(daysSince1970: floorDivide(Int(seconds), 86_400)).year
        let candidate = current - current % 100 + year
        let century = candidate > current + 50 ? -100 : candidate <= current - 50 ? 100 : 0
        return date(year: candidate + century, month, day, time)
    }

    private static func date(year: Int?, _ month: Substring, _ day: Int?, _ time: Substring) -> Date? {
        guard let year, let day, let month = months.firstIndex(of: String(month)) else { return nil }
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
        // 60 is a leap second.
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        guard let civil = CivilDate(year: year, month: month + 1, day: day) else { return nil }
        return Date(
            timeIntervalSince1970: Double(civil.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second))
    }

    private static func isShort(_ weekday: String) -> Bool {
        weekday.utf8.count == 3 && days.contains { $0.hasPrefix(weekday) }
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        text.utf8.count == digits && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func floorDivide(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((b - 1 - a) / b) }
}

extension Substring {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// A day of the proleptic Gregorian calendar.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms": eras of 400 years that begin on 1 March.
struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    /// Creates a day. Returns nil if the day does not exist, or if the year is not from 0 to 9999.
    init?(year: Int, month: Int, day: Int) {
        guard (0...9_999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= lengths[month - 1] else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates a day from the number of days since 1970-01-01, which must be within a few million years.
    init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
