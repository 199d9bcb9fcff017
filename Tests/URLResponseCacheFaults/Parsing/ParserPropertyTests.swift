import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Properties of the parsers for all inputs: they end, do not crash, and invert the formatters.
@Suite(.timeLimit(.minutes(10)))
struct ParserPropertyTests {
    /// Bytes that parsers look for, and others.
    private static let alphabet = Array(
        "\"\"\\,;==-/*:()?@%+. \t\u{0}\u{7F}\u{E9}\u{FF}aAzZWw019bytesGMTmax-age no-store".unicodeScalars)

    private static func text(upTo limit: Int, using random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...limit, using: &random) {
            text.append(alphabet.randomElement(using: &random) ?? "a")
        }
        return String(text)
    }

    /// Returns a valid text with a few characters changed, removed or repeated.
    private static func damaged(_ text: String, using random: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 0...4, using: &random) where !scalars.isEmpty {
            let index = Int.random(in: 0..<scalars.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: scalars[index] = alphabet.randomElement(using: &random) ?? "a"
            case 1: scalars.remove(at: index)
            default: scalars.insert(alphabet.randomElement(using: &random) ?? scalars[index], at: index)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    @Test func `a formatted date parses to the same date`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            // All years of four digits.
            let seconds = Int.random(in: -62_135_596_800...253_402_300_799, using: &random)
            let date = Date(timeIntervalSince1970: Double(seconds))
            let text = HTTPDate.format(date)

            #expect(HTTPDate.parse(text, now: date) == date)
            #expect(text.utf8.count == 29)
        }
    }

    @Test func `the three date formats parse to one date`() {
        var random = SeededGenerator(seed: 2)
        let names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
        for _ in 0..<5_000 {
            let now = Date(timeIntervalSince1970: Double(Int.random(in: 0...4_000_000_000, using: &random)))
            // Within the fifty years in both directions that two digits can distinguish.
            let date = now + Double(Int.random(in: -49 * 31_536_000...49 * 31_536_000, using: &random))
            let text = HTTPDate.format(date)
            let parts = text.split(separator: " ")
            let long = names.first { $0.hasPrefix(parts[0].dropLast()) } ?? ""
            let day = parts[1].first == "0" ? " " + parts[1].dropFirst() : String(parts[1])

            let forms = [
                text, "\(long), \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT",
                "\(parts[0].dropLast()) \(parts[2]) \(day) \(parts[4]) \(parts[3])",
            ]
            for form in forms { #expect(HTTPDate.parse(form, now: now) == date, "\(form) at \(now)") }
        }
    }

    @Test func `whatever was damaged, a parsed date is valid`() {
        var random = SeededGenerator(seed: 3)
        let forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        let now = Date(timeIntervalSince1970: 784_111_777)
        var count = 0
        for index in 0..<30_000 {
            let text = Self.damaged(forms[index % 3], using: &random)
            guard let date = HTTPDate.parse(text, now: now) else { continue }
            count += 1
            #expect(HTTPDate.parse(HTTPDate.format(date), now: now) == date, "\(text)")
        }
        #expect(count > 1_000)
        for text in [
            "", " ", ",", "Sun,", "Sun, GMT", "Thu, 01 Jan 1970 00:00:00 gmt+1", "Sun, 31 Feb 2021 00:00:00 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "0", "-1", "never", "\u{0}",
            "Sun, 06 Nov 1994 08:49:37\u{0} GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "784111777",
        ] {
            #expect(HTTPDate.parse(text, now: now) == nil, "\(text)")
        }
    }

    @Test func `dates out of range are formatted as the nearest valid ones`() {
        for seconds in [-1e300, 1e300, -1e15, 1e15, -62_135_596_801, 253_402_300_800] {
            let text = HTTPDate.format(Date(timeIntervalSince1970: seconds))

            #expect(HTTPDate.parse(text, now: Date(timeIntervalSince1970: seconds)) != nil)
            #expect(text == (seconds < 0 ? "Mon, 01 Jan 0001 00:00:00 GMT" : "Fri, 31 Dec 9999 23:59:59 GMT"))
        }
    }

    @Test func `directives are found in every spelling and among others`() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<10_000 {
            let seconds = Int.random(in: 0...10_000, using: &random)
            var members = [
                "max-age=\(seconds)", "x=\"a, max-age=1, \\\" no-store\"", "y", "z=1", "", "no-cache=\"Set-Cookie, b\"",
                "stale-if-error=\"7\"",
            ]
            members.shuffle(using: &random)
            let blank = ["", " ", "\t", " \t "].randomElement(using: &random) ?? ""
            var text = members.joined(separator: blank + "," + blank)
            if Bool.random(using: &random) { text = text.uppercased() }

            let control = CacheControl(["cache-CONTROL": blank + text + blank])
            #expect(control.seconds("max-age") == .value(seconds), "\(text)")
            #expect(control.seconds("stale-if-error") == .value(7), "\(text)")
            #expect(control.fieldNames(of: "no-cache") == ["set-cookie", "b"], "\(text)")
            #expect(!control.containsUnqualified("no-cache"), "\(text)")
            #expect(!control.forbidsStoring, "\(text)")
            #expect(control.contains("y"))
            #expect(!control.hasArgument("y"))
        }
    }

    @Test func `any Cache-Control is parsed to its end`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<30_000 {
            let lines = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                HTTPFields.Field("Cache-Control", Self.text(upTo: 40, using: &random))
            }
            let control = CacheControl(HTTPFields(lines))
            for name in ["max-age", "no-store", ""] {
                if case .value(let seconds)? = control.seconds(name) {
                    #expect((0...DeltaSeconds.limit).contains(seconds))
                }
                _ = control.fieldNames(of: name)
                _ = control.containsUnqualified(name)
            }
        }
    }

    @Test func `a plain no-store is never hidden by other members`() {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<30_000 {
            let before = Self.text(upTo: 20, using: &random)
            // A preceding quote may make it a part of a string, and nothing else can hide it.
            let text = "no-store," + before

            #expect(CacheControl(["Cache-Control": text]).forbidsStoring, "\(text)")
            let isBalanced = !before.contains("\"") && !before.contains("\\")
            if isBalanced { #expect(CacheControl(["Cache-Control": before + ",no-store"]).forbidsStoring, "\(before)") }
        }
    }

    @Test(arguments: [
        ("max-age=99999999999999999999", DeltaSeconds.value(DeltaSeconds.limit)),
        ("max-age=2147483648", .value(DeltaSeconds.limit)), ("max-age=2147483649", .value(DeltaSeconds.limit)),
        ("max-age=9223372036854775807", .value(DeltaSeconds.limit)), ("max-age=0", .value(0)),
        ("max-age=-1", .invalid), ("max-age=1.5", .invalid), ("max-age=+1", .invalid), ("max-age=", .invalid),
        ("max-age", .invalid), ("max-age=1e3", .invalid), ("max-age=0x10", .invalid), ("max-age=\u{663}", .invalid),
        ("max-age=1\u{0}", .invalid), ("max-age=1 2", .invalid), ("max-age=1;2", .invalid),
        ("max-age=\"10\"", .value(10)), ("max-age=10, max-age=10", .value(10)), ("max-age=10, max-age=11", .invalid),
        ("max-age=00000000000000000000000010", .value(10)),
    ])
    func `seconds parse to a number or to nil`(text: String, expected: DeltaSeconds) {
        #expect(CacheControl(["Cache-Control": text]).seconds("max-age") == expected)
    }

    @Test func `a joined list of entity tags is parsed into the same tags`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<10_000 {
            let tags = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                let inside = Self.text(upTo: 8, using: &random).unicodeScalars
                    .filter { $0.value > 0x20 && $0.value != 0x7F && $0 != "\"" }
                return (Bool.random(using: &random) ? "W/" : "") + "\"\(String(String.UnicodeScalarView(inside)))\""
            }
            let separator = [",", ", ", " ,\t", ",,"].randomElement(using: &random) ?? ","

            #expect(EntityTag.list([tags.joined(separator: separator)]).map(\.text) == tags)
            #expect(EntityTag.list(tags).map(\.text) == tags)
        }
    }

    @Test func `comparing tags is symmetric, and strongly equal tags are weakly equal`() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<20_000 {
            let all = ["\"a\"", "W/\"a\"", "a", "W/a", Self.text(upTo: 6, using: &random)]
            guard let a = EntityTag(all.randomElement(using: &random) ?? ""),
                let b = EntityTag(all.randomElement(using: &random) ?? "")
            else { continue }
            #expect(a.matchesWeakly(b) == b.matchesWeakly(a))
            #expect(a.matchesStrongly(b) == b.matchesStrongly(a))
            if a.matchesStrongly(b) {
                #expect(a.matchesWeakly(b))
                #expect(!a.isWeak)
                #expect(!b.isWeak)
            }
            #expect(a.matchesWeakly(a))
        }
    }

    @Test func `ranges yield available bytes`() {
        var random = SeededGenerator(seed: 9)
        let texts = [
            "bytes=0-0", "bytes=5-", "bytes=-5", "bytes=0-18446744073709551615", "bytes=9223372036854775807-",
            "bytes=-9223372036854775807", "bytes=-99999999999999999999",
            "bytes=9223372036854775806-9223372036854775807",
            "bytes = 1-2", "BYTES=3-4",
        ]
        for index in 0..<30_000 {
            let text =
                index % 2 == 0
                ? Self.damaged(texts[index / 2 % texts.count], using: &random)
                : "bytes=" + Self.text(upTo: 12, using: &random)
            guard let range = ByteRange(text) else { continue }
            for count in [0, 1, 6, Int.max] {
                guard let bytes = range.resolved(in: count) else { continue }
                #expect(!bytes.isEmpty, "\(text) of \(count)")
                #expect(bytes.lowerBound >= 0, "\(text) of \(count)")
                #expect(bytes.upperBound <= count, "\(text) of \(count)")
            }
        }
        for text in ["bytes=", "bytes=-", "bytes=2-1", "bytes=1-2,4-5", "items=1-2", "bytes", "bytes=--1", "bytes=a-b"]
        {
            #expect(ByteRange(text) == nil, "\(text)")
        }
    }

    @Test func `a formatted Content-Range parses to the same range`() {
        var random = SeededGenerator(seed: 10)
        for _ in 0..<20_000 {
            let first = Int.random(in: 0..<(.max / 4), using: &random)
            let bytes = first..<(first + Int.random(in: 1..<(.max / 4), using: &random))
            let complete =
                Bool.random(using: &random) ? nil : bytes.upperBound + Int.random(in: 0..<(.max / 4), using: &random)
            let range = ContentRange(bytes: bytes, completeCount: complete)

            #expect(ContentRange(range.text) == range, "\(range.text)")
            if let read = ContentRange(Self.damaged(range.text, using: &random)) {
                #expect(!read.bytes.isEmpty)
                #expect(read.bytes.upperBound <= read.completeCount ?? .max)
            }
        }
        for text in [
            "bytes */10", "bytes 0-10/10", "bytes 5-4/10", "bytes 0-9223372036854775807/*", "bytes 0-0/0", "0-1/2",
            "bytes 0-1", "bytes 0-1/2/3", "bytes 0-1/-2", "items 0-1/2", "", "bytes 0-1/99999999999999999999",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }

    @Test func `a formatted structured dictionary parses to the same dictionary`() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<10_000 {
            var members: [(text: String, key: String, value: StructuredValue)] = []
            for index in 0..<Int.random(in: 1...6, using: &random) {
                let key = "k\(index)"
                let number = Int.random(in: -999_999_999_999_999...999_999_999_999_999, using: &random)
                let inside = String(
                    String.UnicodeScalarView(
                        Self.text(upTo: 8, using: &random).unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }))
                let escaped = inside.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                let all: [(String, StructuredValue)] = [
                    ("\(key)=\(number)", .integer(number)), (key, .boolean(true)), ("\(key)=?0", .boolean(false)),
                    ("\(key)=\"\(escaped)\"", .string(inside)), ("\(key)=a/b:c", .token("a/b:c")),
                    ("\(key)=1.5", .other), ("\(key)=:YQ==:", .other), ("\(key)=(1 \"a, b\" c;d=1)", .other),
                    ("\(key)=@1659578233", .other), ("\(key)=%\"a%20\"", .other), ("\(key);a=1;b", .boolean(true)),
                ]
                let (text, value) = all.randomElement(using: &random) ?? all[0]
                members.append((text, key, value))
            }
            let text = members.map(\.text).joined(separator: [",", ", ", " ,\t"].randomElement(using: &random) ?? ",")

            let read = StructuredDictionary(text)?.members
            #expect(read?.map(\.key) == members.map(\.key), "\(text)")
            #expect(read?.map(\.value) == members.map(\.value), "\(text)")
            _ = StructuredDictionary(Self.damaged(text, using: &random))
        }
    }

    @Test func `lists of weighted members end, and order and spelling do not matter`() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<10_000 {
            let value = Self.text(upTo: 30, using: &random)
            let members = QuotedList.members(of: value)
            #expect(members.allSatisfy { !$0.isEmpty })
            let request = HTTPRequest(url: .page(), fields: ["Accept-Language": value, "X": value])
            let other = HTTPRequest(
                url: .page(),
                fields: HTTPFields(members.shuffled(using: &random).map { .init("accept-language", String($0)) }))
            #expect(Vary.fields(["accept-language"], of: request) == Vary.fields(["accept-language"], of: request))
            guard !value.contains("\""), !members.isEmpty else { continue }
            #expect(
                Vary.variant(["accept-language"], of: request) == Vary.variant(["accept-language"], of: other),
                "\(value)")
        }
    }
}
