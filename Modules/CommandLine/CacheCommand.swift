import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials

struct CacheCommand: ProgramCommand {
    static let name = "cache"
    static let help = """
        usage: alcedo cache stat|list|verify|trim|clear [options]

        Inspects and maintains the disk cache of the other commands. Other processes may use it at the same time.

          stat      print the number and the size of the entries and of unfinished downloads
          list      print one line per entry, the least recently used first
          verify    read all entries and remove damaged ones; exits with status 1 if it found any
          trim      remove the least recently used entries until the rest fits --size and --count
          clear     remove everything, including unfinished downloads

        The exit status is 1 if an action is incomplete, or if --cache names a directory that is not a cache.

          --cache DIR             use the cache directory DIR (default: alcedo in the user's cache directory)
          --size N                trim: keep at most N bytes, such as 64M
          --count N               trim: keep at most N entries
          --json                  print one JSON object; list prints one per line
          --quiet, -q             print only problems

        """

    private enum Action: String, CaseIterable {
        case stat, list, verify, trim, clear
    }

    private var action = Action.stat
    private var directory = ImagePipeline.Configuration.cacheDirectory()
    private var isExplicit = false
    private var size: Int?
    private var count: Int?
    private var isJSON = false
    private var isQuiet = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--cache":
            directory = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
            isExplicit = true
        case "--size": size = try ByteCount.parse(try arguments.value(of: option), for: option)
        case "--count": count = try arguments.number(of: option, in: 0...Int.max)
        case "--json": isJSON = true
        case "--quiet", "-q": isQuiet = true
        default: return false
        }
        return true
    }

    mutating func finish(_ words: [String]) throws {
        let actions = Action.allCases.map(\.rawValue).joined(separator: ", ")
        guard words.count == 1, let word = words.first, let action = Action(rawValue: word) else {
            throw UsageError("cache needs one of: \(actions)")
        }
        guard (size ?? count) == nil || action == .trim else {
            throw UsageError("cache \(word) has no options --size and --count")
        }
        guard action != .trim || (size ?? count) != nil else {
            throw UsageError("cache trim needs --size, --count or both")
        }
        self.action = action
    }

    func run() async throws -> ExitStatus {
        guard let directory else {
            throw UsageError(
                """
                cannot find the cache directory: neither XDG_CACHE_HOME nor HOME is an absolute path; use --cache DIR
                """)
        }
        try checkExistence(of: directory)
        try await CacheDirectory.check(directory, mustExist: true)
        let maintenance = CacheMaintenance(
            in: directory, report: CacheReport(directory: directory, isJSON: isJSON, isQuiet: isQuiet))
        let failure =
            switch action {
            case .stat: await maintenance.printTotals()
            case .list: await maintenance.list()
            case .verify: await maintenance.verify()
            case .trim: await maintenance.trim(toSize: size ?? .max, count: count ?? .max)
            case .clear: await maintenance.clear()
            }
        if let failure { Console.problem("alcedo: \(failure)") }
        return failure == nil ? .success : .failure
    }

    /// Throws ``InputError`` if the directory cannot be accessed, or if `--cache` names it and it does not exist. The
    /// default directory may be absent, because the first load creates it.
    private func checkExistence(of directory: URL) throws {
        let path = directory.path(percentEncoded: false)
        guard access(path, F_OK) != 0 else { return }
        let number = errno
        if number == ENOENT, !isExplicit { return }
        throw InputError("the cache directory \(path)", number)
    }
}

/// The actions of `alcedo cache` on the images of a cache and on the unfinished downloads beside them. Each action
/// returns nil on success. Otherwise, it returns a message: the action was incomplete, or `verify` found damaged
/// entries.
private struct CacheMaintenance {
    private let images: FileDiskCache
    private let parts: FileDiskCache
    private let report: CacheReport

    init(in directory: URL, report: CacheReport) {
        // Only an explicit action may remove entries, so the caches have no limits and do not remove expired entries.
        let limits = DataCacheLimits(sizeLimit: .max, maximumAge: nil)
        images = FileDiskCache(directory: directory, limits: limits, sweepInterval: .zero)
        parts = FileDiskCache(directory: StackOptions.parts(in: directory), limits: limits, sweepInterval: .zero)
        self.report = report
    }

    func printTotals() async -> String? {
        for cache in [images, parts] { if let failure = await cache.listingError() { return failure.message } }
        report.printTotals(await images.count, await images.totalSize, await parts.count, await parts.totalSize)
        return nil
    }

    func list() async -> String? {
        if let failure = await images.listingError() { return failure.message }
        for item in await images.items() { report.printItem(item, await images.key(named: item.name)) }
        return nil
    }

    func verify() async -> String? {
        let (found, foundParts) = (await images.verify(), await parts.verify())
        report.printVerification(found, foundParts)
        if let failure = found.error ?? foundParts.error { return "cannot verify all entries: \(failure)" }
        let damagedCount = found.damagedNames.count + foundParts.damagedNames.count
        return damagedCount == 0 ? nil : "damaged entries, removed: \(damagedCount)"
    }

    func trim(toSize size: Int, count: Int) async -> String? {
        let trimmed = await images.trim(toSize: size, count: count)
        report.printTrim(trimmed)
        return trimmed.error.map { "cannot remove all entries: \($0)" }
    }

    func clear() async -> String? {
        let (count, size) = await totals
        await images.removeAll()
        await parts.removeAll()
        // `removeAll()` reports no error; a trim returns the reason why entries are left.
        let imageFailure = await images.trim(toSize: 0).error
        let partFailure = await parts.trim(toSize: 0).error
        let (leftCount, leftSize) = await totals
        report.printRemovals(max(0, count - leftCount), max(0, size - leftSize))
        return (imageFailure ?? partFailure).map { "cannot remove all entries: \($0)" }
    }

    private var totals: (count: Int, size: Int) {
        get async { (await images.count + parts.count, await images.totalSize + parts.totalSize) }
    }
}
