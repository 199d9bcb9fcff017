import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Long header values: four times the length takes about four times as long to parse, where quadratic time would be
/// sixteen times.
@Suite(.timeLimit(.minutes(10)))
struct LongInputTests {
    /// Fewer of most values, because there are many, and tests are built without optimization.
    private static let count = 32 << 10

    private static func expectLinear(_ value: String, _ read: (String) -> Void) {
        let short = String(value.unicodeScalars.prefix(value.unicodeScalars.count / 4))
        LinearTime.expect({ read(short) }, fourTimes: { read(value) })
    }

    private static func repeating(_ text: String, toCount count: Int = count) -> String {
        String(repeating: text, count: count / text.utf8.count)
    }

    private static let values = [
        repeating("a"), repeating(","), repeating(" "), repeating("\""), repeating("\\"), "\"" + repeating("\\"),
        repeating("a,"), repeating("a=1,"), repeating("a=\"1\","), repeating("=,"), "max-age=" + repeating("9"),
        "max-age=" + repeating(" "), "a=\"" + repeating("x, "), "a=b" + repeating(" ") + "c", repeating("W/\"a\","),
        repeating("a;q=0.1,"), repeating("\u{1F1E9}\u{1F1EA}"), "a=" + repeating("\u{301}"), repeating("\u{E9}"),
        "a=(" + repeating("1 "), "a=:" + repeating("YQ=="), "a" + repeating(";b=1"), "bytes=" + repeating("1"),
        "bytes=1-2" + repeating(","), "bytes " + repeating("1") + "-" + repeating("1") + "/*", repeating("/"),
        "Sun, " + repeating("0") + " Nov 1994 08:49:37 GMT", "Sun," + repeating(" ") + "GMT", repeating(":"),
        repeating("\u{0}"), repeating("-"), "k=\"" + repeating("\\\""), repeating("a\t"),
    ]

    @Test(arguments: values.indices)
    func `a long field is parsed in linear time`(index: Int) {
        Self.expectLinear(Self.values[index], Self.read)
    }

    @Test(arguments: ["a", "9", "\"", "a, "])
    func `a field of a megabyte is parsed in linear time`(text: String) {
        Self.expectLinear("max-age=" + Self.repeating(text, toCount: 1 << 20), Self.read)
    }

    private static func read(_ value: String) {
        let now = Date(timeIntervalSince1970: 784_111_777)

        let control = CacheControl(["Cache-Control": value])
        _ = control.seconds("max-age")
        _ = control.fieldNames(of: "a")
        _ = CacheControl(targeted: "T", of: ["T": value])
        _ = HTTPDate.parse(value, now: now)
        _ = EntityTag(value)
        _ = EntityTag.list([value])
        _ = ByteRange(value)
        _ = ContentRange(value)
        _ = StructuredDictionary(value)
        let fields: HTTPFields = ["A": value]
        _ = fields.members(of: "A")
        _ = fields.list("A", contains: "no-cache")
    }

    @Test(arguments: ["Accept-Language", "X", "Cookie"])
    func `a long field that a response varies by is parsed in linear time`(name: String) {
        for value in [Self.values[6], Self.values[15], Self.values[3], Self.values[16]] {
            Self.expectLinear(value) { value in
                _ = Vary.variant(
                    [name.lowercased()], of: HTTPRequest(url: .page(), fields: HTTPFields([.init(name, value)])))
            }
        }
    }
}
