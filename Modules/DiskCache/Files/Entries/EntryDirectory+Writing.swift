import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

extension EntryDirectory {
    /// Writes an entry beside its place, and tells the size of its file. Makes folders that are missing.
    func write(
        _ encoded: EntryFile.EncodedEntry, durability: Durability
    ) throws(DataCacheError) -> (file: UnfinishedFile, size: FileSize) {
        let file = try makeUnfinishedFile()
        guard file.descriptor.write(encoded.data.bytes, encoded.tail.span.bytes),
            durability == .none || file.descriptor.synchronize(), let status = file.descriptor.status
        else { throw lastError.cacheError("write to", paths.directory) }
        return (file, FileSize(status))
    }

    func makeUnfinishedFile() throws(DataCacheError) -> UnfinishedFile {
        var lastError = SystemError(number: ENOENT)
        for _ in 0..<8 {
            do throws(SystemError) {
                return try unfinished.makeFile()
            } catch {
                lastError = error
            }
            switch lastError.number {
            case ENOENT: try makeDirectory(paths.unfinished)
            case ENOTDIR where isLink(paths.unfinished): unlink(paths.unfinished)
            case UnfinishedFile.removedBySweep: continue
            default: throw lastError.cacheError("write to", paths.directory)
            }
        }
        throw lastError.cacheError("write to", paths.directory)
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Moves a written file into its entry's place. A folder there, or a link in the place of the entry's folder, makes way.
    ///
    /// - Parameter directory: The cache's.
    /// - Returns: Whether something made way that was damage.
    func publish(
        _ file: UnfinishedFile, as name: EntryName, in directory: borrowing Descriptor, durability: Durability
    ) throws(DataCacheError) -> Bool {
        do throws(SystemError) {
            var hasRemovedDamage = false
            let shard = try makeShard(of: name, in: directory, &hasRemovedDamage)
            var number = paths.withFileName(name) { file.move(to: shard, $0) }
            if number == EISDIR {
                paths.withFileName(name) { shard.clear($0) }
                hasRemovedDamage = true
                number = paths.withFileName(name) { file.move(to: shard, $0) }
            }
            guard number == 0 else {
                // The folder that is held may be that of a directory that had this path before.
                unfinished.forget()
                throw SystemError(number: number)
            }
            if durability == .directory {
                // The shard is only looked up in.
                let shardDirectory = try Descriptor(opening: ".", beneath: shard, O_RDONLY | O_DIRECTORY)
                // That folder may be new. If it is not, this costs next to nothing.
                let parent = try Descriptor(opening: ".", beneath: directory, O_RDONLY | O_DIRECTORY)
                guard shardDirectory.synchronize(), parent.synchronize() else { throw lastError }
            }
            return hasRemovedDamage
        } catch {
            throw error.cacheError("write to", paths.directory)
        }
    }

    /// The folder of an entry, made where there is none.
    private func makeShard(
        of name: EntryName, in directory: borrowing Descriptor, _ hasRemovedDamage: inout Bool
    ) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try openShard(of: name, in: directory)
        } catch {
            guard [ENOENT, ELOOP].contains(error.number) else { throw error }
            if error.number == ELOOP {
                _ = directory.unlink(paths.shard(of: name))
                hasRemovedDamage = true
            }
        }
        try directory.makeDirectory(paths.shard(of: name))
        return try openShard(of: name, in: directory)
    }

    /// Removes an entry, or what stands in its place, or a link in the place of its folder.
    ///
    /// - Parameters:
    ///   - suffix: What the file's name ends with, if not with what the cache would give it.
    ///   - directory: The cache's.
    /// - Returns: Whether a file is gone that was there.
    @discardableResult
    func remove(_ name: EntryName, suffix: [UInt8]? = nil, in directory: borrowing Descriptor) -> Bool {
        do throws(SystemError) {
            let shard = try openShard(of: name, in: directory)
            return paths.withFileName(name, suffix) { file in
                let number = shard.unlink(file)
                if number == EISDIR { shard.clear(file) }
                return number == 0
            }
        } catch {
            if error.number == ELOOP { _ = directory.unlink(paths.shard(of: name)) }
            return false
        }
    }

    /// The same where the directory is.
    @discardableResult
    func remove(_ name: EntryName, suffix: [UInt8]? = nil) -> Bool {
        guard let directory = try? openDirectory() else { return false }
        return remove(name, suffix: suffix, in: directory)
    }

    /// Gives a file that has another extension the one that the cache gives; where that name is taken, it goes. Returns
    /// whether it has the name now.
    func rename(_ name: EntryName, from suffix: [UInt8]) -> Bool {
        guard let directory = try? openDirectory(), let shard = try? openShard(of: name, in: directory) else {
            return false
        }
        return paths.withFileName(name, suffix) { other in
            paths.withFileName(name) { shard.renameOrRemove(other, $0) }
        }
    }

    func makeDirectory(_ path: String) throws(DataCacheError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            made += path.hasPrefix("/") || !made.isEmpty ? "/\(part)" : "\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
                throw lastError.cacheError("make", paths.directory)
            }
        }
    }

    private var lastError: SystemError { SystemError(number: errno) }
}
