import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

@testable import AlcedoURLResponseCache

/// When the manual clock of a bench starts: a date of whole seconds, Tue, 14 Nov 2023 22:13:20 GMT.
let start = Date(timeIntervalSince1970: 1_700_000_000)

/// A date so many seconds after the start, as fields have it.
func date(_ seconds: TimeInterval) -> String { HTTPDate.format(start + seconds) }

extension String {
    /// The bytes of the text.
    var data: Data { Data(utf8) }
}
