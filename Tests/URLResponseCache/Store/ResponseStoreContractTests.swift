import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(10)))
struct ResponseStoreContractTests {
    @Test(arguments: ResponseStoreConformance.checks)
    func `the memory store passes each conformance check`(to check: ResponseStoreConformance.Check) async throws {
        try await check { MemoryResponseStore(byteLimit: $0.byteLimit) }
    }

    @Test(arguments: ResponseStoreConformance.checks)
    func `the data cache store passes each conformance check`(to check: ResponseStoreConformance.Check) async throws {
        try await check { DataResponseStore(DataMemoryCache(sizeLimit: $0.byteLimit)) }
    }

    @Test(arguments: ResponseStoreConformance.checks)
    func `the two-tier store passes each conformance check`(to check: ResponseStoreConformance.Check) async throws {
        try await check {
            TieredResponseStore(
                MemoryResponseStore(byteLimit: $0.byteLimit / 2),
                over: DataResponseStore(DataMemoryCache(sizeLimit: $0.byteLimit)))
        }
    }
}
