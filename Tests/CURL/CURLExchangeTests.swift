import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoCURL

@Suite struct CURLExchangeTests {
    static func request(_ text: String) throws -> CURLRequest {
        try CURLRequest(HTTPRequest(url: try #require(URL(string: text))), CURLSettings(CURLOptions()))
    }

    /// The loop may process both commands before the canceler continues.
    @Test func `a canceled exchange is settled before the loop processes it`() throws {
        let seen = Watched<[Bool]>([])
        let exchange = CURLExchange(try Self.request("http://h/"), onSpace: { _ in }) { exchange in
            seen.update { $0.append(exchange.isSettled) }
        }
        exchange.cancel()
        exchange.cancel()
        #expect(seen.value == [true])
    }
}
