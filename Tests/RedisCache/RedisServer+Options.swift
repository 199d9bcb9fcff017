import AlcedoRedisCache
import TestSupport

extension RedisServer {
    /// For a cache on this server that is patient enough for a busy machine.
    func cacheOptions(prefix: String = "test:", maximumEntryByteCount: Int = 16 << 20) -> RedisOptions {
        RedisOptions(
            address: .socket(socket), prefix: prefix, connectTimeout: .seconds(120), responseTimeout: .seconds(120),
            callTimeout: .seconds(120), maximumEntryByteCount: maximumEntryByteCount)
    }
}
