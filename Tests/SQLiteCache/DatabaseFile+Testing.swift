import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

@testable import AlcedoSQLiteCache

extension DatabaseFile {
    static func writer(_ directory: URL) -> Self {
        Self(
            directory: directory, values: ValueDirectory(directory: directory), isWriter: true,
            lockTimeout: .seconds(300))
    }

    mutating func store(_ entry: CachedData, for key: ImageKey) throws {
        let now = Timestamp(Date())
        try perform(makesFile: true) {
            _ = try $0.store(entry, for: key, recency: now.milliseconds, at: now, limit: .max)
        }
    }

    mutating func data(for key: ImageKey) throws -> Data? {
        try perform(makesFile: false) { try $0.row(named: key.fileName)?.data }.flatMap { $0 }
    }
}
