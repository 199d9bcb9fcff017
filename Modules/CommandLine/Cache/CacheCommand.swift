import Alcedo
import AlcedoLibc
import AlcedoProgramSupport
import FoundationEssentials

/// `alcedo cache`
struct CacheCommand: ProgramCommand {
    static let name = "cache"
    static let help = """
        usage: alcedo cache stat|list|verify|trim|clear [options]

        Looks into the cache on disk that the other commands use, and puts it in order. Others may use it meanwhile.

          stat      how many entries there are, and what they occupy; unfinished downloads apart
          list      one line for each entry, the least recently used first
          verify    read every entry, and remove those that are damaged; exits with 1 when there was one
          trim      remove the least recently used entries until the rest fits --size and --count
          clear     remove everything, unfinished downloads too

        It ends with 1 when it could not do all of that, and where a cache that is named is none.

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
    private var isNamed = false
    private var size: Int?
    private var count: Int?
    private var isJSON = false
    private var isQuiet = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--cache":
            directory = URL(filePath: try arguments.value(of: option), directoryHint: .isDirectory)
            isNamed = true
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
        try look(for: directory)
        try await CacheFolder.check(directory, isToBeOne: true)
        let work = CacheWork(in: directory, report: CacheReport(directory: directory, isJSON: isJSON, isQuiet: isQuiet))
        let refusal =
            switch action {
            case .stat: await work.tellTotals()
            case .list: await work.list()
            case .verify: await work.verify()
            case .trim: await work.trim(toSize: size ?? .max, count: count ?? .max)
            case .clear: await work.clear()
            }
        if let refusal { Console.problem("alcedo: \(refusal)") }
        return refusal == nil ? .success : .failure
    }

    /// Throws when the directory is not to be had, or is not there though somebody named it: the usual one is made by the
    /// first load only.
    private func look(for directory: URL) throws {
        let path = directory.path(percentEncoded: false)
        guard access(path, F_OK) != 0 else { return }
        let number = errno
        if number == ENOENT, !isNamed { return }
        throw InputError("the cache directory \(path)", number)
    }
}
