import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

@testable import AlcedoURLResponseCache

/// The start of a bench's manual clock: a date of whole seconds, Tue, 14 Nov 2023 22:13:20 GMT.
let start = Date(timeIntervalSince1970: 1_700_000_000)

/// Returns the date this many seconds after the start in field format.
func date(_ seconds: TimeInterval) -> String { HTTPDate.format(start + seconds) }

extension String {
    /// The UTF-8 bytes of the text.
    var data: Data { Data(utf8) }
}
