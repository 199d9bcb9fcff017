import Alcedo
import FoundationEssentials

/// What `alcedo cache` does to the images of a cache and to the unfinished downloads beside them. Each action tells what it
/// did, and returns in words why that was not all, or nil.
struct CacheWork {
    private let images: FileDiskCache
    private let parts: FileDiskCache
    private let report: CacheReport

    init(in directory: URL, report: CacheReport) {
        // No limits of its own: what is there is shown as it is, and only what is asked for goes.
        let limits = DataCacheLimits(maximumSize: .max, maximumAge: nil)
        images = FileDiskCache(directory: directory, limits: limits, sweepInterval: .zero)
        parts = FileDiskCache(directory: StackOptions.parts(in: directory), limits: limits, sweepInterval: .zero)
        self.report = report
    }

    func tellTotals() async -> String? {
        for cache in [images, parts] { if let refusal = await cache.listingError() { return refusal.message } }
        report.tell(await images.count, await images.totalSize, await parts.count, await parts.totalSize)
        return nil
    }

    func list() async -> String? {
        if let refusal = await images.listingError() { return refusal.message }
        for item in await images.items() { report.tell(item, await images.key(named: item.name)) }
        return nil
    }

    func verify() async -> String? {
        let (found, foundParts) = (await images.verify(), await parts.verify())
        report.tell(found, foundParts)
        if let refusal = found.refusal ?? foundParts.refusal { return "not all could be verified: \(refusal)" }
        let damagedCount = found.damagedNames.count + foundParts.damagedNames.count
        return damagedCount == 0 ? nil : "entries that were damaged, and are removed: \(damagedCount)"
    }

    func trim(toSize size: Int, count: Int) async -> String? {
        let trimmed = await images.trim(toSize: size, count: count)
        report.tell(trimmed)
        return trimmed.refusal.map { "not all could be removed: \($0)" }
    }

    func clear() async -> String? {
        let (count, size) = await totals
        await images.removeAll()
        await parts.removeAll()
        // Which may say why something is left.
        let imageRefusal = await images.trim(toSize: 0).refusal
        let partRefusal = await parts.trim(toSize: 0).refusal
        let (leftCount, leftSize) = await totals
        report.tellCleared(max(0, count - leftCount), max(0, size - leftSize))
        return (imageRefusal ?? partRefusal).map { "not all could be removed: \($0)" }
    }

    private var totals: (count: Int, size: Int) {
        get async { (await images.count + parts.count, await images.totalSize + parts.totalSize) }
    }
}
