import AlcedoCore
import AlcedoDiskCache
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoRedisCache
import AlcedoSQLiteCache
import TestSupport

/// The data caches that a pipeline is tested with. A new one is a case and a line.
enum Backend: String, CaseIterable {
    case files, sqlite, tiered, memory, redis

    /// The backends that are installed.
    static let available = allCases.filter { $0 != .redis || RedisServer.isInstalled }

    func make(in resources: BackendResources) async throws -> any MeasurableDataCache {
        switch self {
        case .files: FileDiskCache(directory: resources.directory.url)
        case .sqlite: SQLiteDiskCache(directory: resources.directory.url)
        case .tiered:
            TieredDataCache([
                DataCacheTier(DataMemoryCache(sizeLimit: 1 << 20)),
                DataCacheTier(FileDiskCache(directory: resources.directory.url)),
            ])
        case .memory: DataMemoryCache(sizeLimit: 1 << 20)
        case .redis: RedisDataCache(RedisOptions(address: .socket(try await resources.redis())))
        }
    }
}
