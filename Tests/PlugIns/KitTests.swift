import AlcedoCore
import AlcedoTesting
import Testing

/// The kits on parts of another package: this target has no package access, so the parts use only what is public.
/// The codecs of `Examples/CustomCodec` and of the article on codecs are such parts, too.
@Suite(.timeLimit(.minutes(10)))
struct KitTests {
    @Test(arguments: TransportConformance.checks)
    func `a transport of another package passes each check`(check: TransportConformance.Check) async throws {
        try await check { _ in PlugInTransport() }
    }

    @Test(arguments: DownloaderConformance.checks + DownloaderConformance.localSourceChecks)
    func `a downloader of another package passes each check`(check: DownloaderConformance.Check) async throws {
        try await check { _ in PlugInDownloader(transport: PlugInTransport()) }
    }

    @Test(arguments: ProcessorConformance.checks)
    func `a processor of another package passes each check`(check: ProcessorConformance.Check) async throws {
        try await check { _ in PlugInProcessor() }
    }

    @Test(arguments: DecoderConformance.checks)
    func `a decoder of another package passes each check`(check: DecoderConformance.Check) async throws {
        try await check { _ in (PlugInDecoder(), PlugInDecoder.file) }
    }

    @Test(arguments: ColorConverterConformance.checks)
    func `a color converter of another package passes each check`(check: ColorConverterConformance.Check) async throws {
        try await check { _ in PlugInColorConverter() }
    }

    @Test(arguments: MemoryCacheConformance.checks)
    func `a memory cache of another package passes each check`(check: MemoryCacheConformance.Check) async throws {
        try await check { PlugInMemoryCache(costLimit: $0.byteLimit) }
    }

    @Test(arguments: DataCacheConformance.checks + DataCacheConformance.persistenceChecks)
    func `a data cache of another package passes each check`(check: DataCacheConformance.Check) async throws {
        let storages = [PlugInDataCache.Storage(), PlugInDataCache.Storage()]
        try await check { PlugInDataCache(storages[$0.storage], sizeLimit: $0.byteLimit) }
    }

    @Test(arguments: ResponseStoreConformance.checks)
    func `a response store of another package passes each check`(check: ResponseStoreConformance.Check) async throws {
        try await check { PlugInResponseStore(byteLimit: $0.byteLimit) }
    }
}
