import AlcedoRedisCache
import TestSupport

extension RedisServer {
    /// Returns options for a cache on this server with timeouts for a busy machine.
    func cacheOptions(prefix: String = "test:", maximumEntryByteCount: Int = 16 << 20) -> RedisOptions {
        RedisOptions(
            address: .socket(socket), prefix: prefix, connectTimeout: .seconds(120), responseTimeout: .seconds(120),
            callTimeout: .seconds(120), maximumEntryByteCount: maximumEntryByteCount)
    }
}
