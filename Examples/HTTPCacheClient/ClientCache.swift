import AlcedoCURL
import AlcedoCore
import AlcedoURLResponseCache

/// What the requests go through: the one place that names the parts.
enum ClientCache {
    static func transport() -> any HTTPTransport {
        // Room for every call, and for as many questions that the cache asks behind an answer. Bodies stay as the server
        // sent them: whoever tests a cache wants to see that nothing on the way changes them.
        let connections = 2 * Session.maximumOutstanding
        let network = CURLTransport(
            connections: connections, connectionsPerHost: connections, decodesContent: false)
        return CachingTransport(wrapping: network, store: MemoryResponseStore())
    }
}
