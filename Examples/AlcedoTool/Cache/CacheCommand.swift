import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo cache`
struct CacheCommand: ToolCommand {
    static let name = "cache"
    static let help = """
        usage: alcedo cache stat|list|verify|trim|clear [options]

        Looks into the cache on disk that the other commands use, and puts it in order. Others may use it meanwhile.

          stat      how many entries there are, and what they occupy; unfinished downloads apart
          list      one line for each entry, the least recently used first
          verify    read every entry, and remove those that are damaged; exits with 1 when there was one
          trim      remove the least recently used entries until the rest fits --size and --count
          clear     remove everything, unfinished downloads too

          --cache DIR      the cache (default: the user's cache directory)
          --size N         for trim: most bytes that stay, such as 64M
          --count N        for trim: most entries that stay
          --json           one JSON object; for list, one a line
          --quiet, -q      say nothing but problems

        """

    private enum Action: String, CaseIterable {
        case stat, list, verify, trim, clear
    }

    private var action = Action.stat
    private var directory = ImagePipeline.Configuration.standardCacheDirectory
    private var size: Int?
    private var count: Int?
    private var isJSON = false
    private var isQuiet = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--cache": directory = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
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
            throw UsageError("cache takes one of: \(actions)")
        }
        guard (size ?? count) == nil || action == .trim else {
            throw UsageError("cache \(word) takes neither --size nor --count")
        }
        guard action != .trim || (size ?? count) != nil else {
            throw UsageError("cache trim needs --size, --count or both")
        }
        self.action = action
    }

    func run() async throws -> ExitStatus {
        guard let directory else { throw UsageError("there is no home for a cache; --cache names one") }
        // No limits of its own: what is there is shown as it is, and only what is asked for goes.
        let limits = DataCacheLimits(size: .max, age: nil)
        let images = FileDiskCache(directory: directory, limits: limits, sweepInterval: .zero)
        let parts = FileDiskCache(directory: StackOptions.parts(in: directory), limits: limits, sweepInterval: .zero)
        let report = CacheReport(directory: directory, isJSON: isJSON, isQuiet: isQuiet)
        switch action {
        case .stat: report.tell(await images.count, await images.totalSize, await parts.count, await parts.totalSize)
        case .list: for item in await images.items() { report.tell(item, await images.key(named: item.name)) }
        case .verify:
            let (found, foundParts) = (await images.verify(), await parts.verify())
            report.tell(found, foundParts)
            return found.damagedNames.isEmpty && foundParts.damagedNames.isEmpty ? .success : .failure
        case .trim: report.tell(await images.trim(toSize: size ?? .max, count: count ?? .max))
        case .clear:
            let (before, size) = (await images.count + parts.count, await images.totalSize + parts.totalSize)
            await images.removeAll()
            await parts.removeAll()
            report.tellCleared(before - (await images.count + parts.count), size)
        }
        return .success
    }
}
