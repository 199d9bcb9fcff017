import AlcedoCore
import AlcedoDiskCache
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoSQLiteCache
import TestSupport

/// The data caches that a pipeline is tried with. A new one is a case and a line.
enum Backend: String, CaseIterable {
    case files, sqlite, tiered, memory

    func make(_ directory: TemporaryDirectory) -> any DataCaching {
        switch self {
        case .files: FileDiskCache(directory: directory.url)
        case .sqlite: SQLiteDiskCache(directory: directory.url)
        case .tiered:
            TieredDataCache([
                DataCacheTier(DataMemoryCache(sizeLimit: 1 << 20)),
                DataCacheTier(FileDiskCache(directory: directory.url)),
            ])
        case .memory: DataMemoryCache(sizeLimit: 1 << 20)
        }
    }
}
