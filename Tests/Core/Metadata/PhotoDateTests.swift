import Foundation
import Testing

@testable import AlcedoCore

@Suite struct PhotoDateTests {
    @Test(
        arguments: [
            ("2024:05:17 18:04:05", "2024-05-17T18:04:05"), ("2024-05-17T18:04:05Z", "2024-05-17T18:04:05+00:00"),
            ("2024-05-17T18:04:05.250-03:30", "2024-05-17T18:04:05.25-03:30"),
            ("2024-05-17T18:04+02:00", "2024-05-17T18:04+02:00"),
            ("20240517T180405+0200", "2024-05-17T18:04:05+02:00"), ("2024", "2024"), ("2024-05", "2024-05"),
            ("2024:05:17", "2024-05-17"), ("20240000", "2024"), ("2024:05:00 18:04:05", "2024-05"),
            // The time is unknown or impossible.
            ("2024:05:17     :  :  ", "2024-05-17"), ("2024:05:17 24:00:00", "2024-05-17"),
            ("2024:05:17 18:04:88", "2024-05-17T18:04"), ("2024:02:29 00:00:60", "2024-02-29T00:00:60"),
            ("2023:02:29 00:00:00", "2023-02"), (" 2024/05/17 18:04:05 junk", "2024-05-17T18:04:05"),
            ("2024-05-17T18:04:05.1234567899Z", "2024-05-17T18:04:05.123456789+00:00"),
            ("0000:00:00 00:00:00", nil), ("    :  :     :  :  ", nil), ("", nil), ("May 17, 2024", nil),
            ("24-05-17", nil),
        ] as [(String, String?)])
    func `a date has the parts that its text states`(text: String, expected: String?) {
        #expect(PhotoDate(text)?.description == expected)
    }

    @Test func `a fraction and an offset that are stored elsewhere belong to a date with a time`() {
        let time = PhotoDate("2024:05:17 18:04:05", fraction: "078  ", offset: "+05:45")
        #expect(time?.description == "2024-05-17T18:04:05.078+05:45")
        #expect(PhotoDate("2024:05:17", fraction: "5", offset: "+05:45")?.description == "2024-05-17")
        // What the text itself states takes precedence.
        let own = PhotoDate("2024-05-17T18:04:05.5Z", fraction: "25", offset: "+05:45")
        #expect(own?.description == "2024-05-17T18:04:05.5+00:00")
        for offset in ["", "   :  ", "CET", "+", "+99:00"] {
            #expect(PhotoDate("2024:05:17 18:04:05", offset: offset)?.secondsFromGMT == nil)
        }
    }

    @Test func `an instant needs a time zone, and agrees with Foundation's calendar`() throws {
        #expect(PhotoDate("2024:05:17 18:04:05")?.date == nil)
        #expect(PhotoDate("2024-05-17")?.date == nil)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 9_000))
        var components = DateComponents(month: 3, day: 1, hour: 1, minute: 2, second: 3)
        for year in [1600, 1900, 1969, 1970, 2000, 2023, 2024, 2100, 9999] {
            components.year = year
            for (month, day) in [(1, 1), (2, 28), (3, 1), (12, 31)] {
                (components.month, components.day) = (month, day)
                var date = PhotoDate(year: year)
                (date.month, date.day, date.hour, date.minute, date.second) = (month, day, 1, 2, 3)
                date.secondsFromGMT = 9_000
                #expect(date.date == calendar.date(from: components), "\(date)")
            }
        }
    }
}
