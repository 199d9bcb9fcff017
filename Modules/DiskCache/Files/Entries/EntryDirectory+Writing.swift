import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

extension EntryDirectory {
    /// Writes an entry to a temporary file. Returns the file and its size. Unless `durability` is `none`, waits until
    /// the bytes are on the storage medium. Creates the directory of temporary files, and its parents, if they are
    /// missing.
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

    /// Moves a written file to the place of its entry. Removes a directory in that place, or a symbolic link in place
    /// of the entry's directory.
    ///
    /// - Parameters:
    ///   - file: The written file.
    ///   - name: The name of the entry.
    ///   - directory: The cache's directory.
    ///   - durability: The data that survives a power failure.
    /// - Returns: Whether such a directory or symbolic link was removed, which counts as damage.
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
                // The open directory of temporary files may be in a cache directory that had this path before.
                unfinished.forget()
                throw SystemError(number: number)
            }
            if durability == .directory {
                // The shard was opened only for lookups, which does not permit `fdatasync`.
                let shardDirectory = try Descriptor(opening: ".", beneath: shard, O_RDONLY | O_DIRECTORY)
                // The shard may be new in its parent.
                let parent = try Descriptor(opening: ".", beneath: directory, O_RDONLY | O_DIRECTORY)
                guard shardDirectory.synchronize(), parent.synchronize() else { throw lastError }
            }
            return hasRemovedDamage
        } catch {
            throw error.cacheError("write to", paths.directory)
        }
    }

    /// Opens the directory of an entry, and creates it if necessary. Removes a symbolic link in its place, and then
    /// sets `hasRemovedDamage` to true.
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

    /// Removes an entry's file, or anything else that has the file's name. If a symbolic link is in place of the
    /// entry's directory, removes only the link.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - suffix: The path extension of the file if it differs from the cache's.
    ///   - directory: The cache's directory.
    /// - Returns: True if the file, or anything else except a directory, was removed from the entry's place. False if a
    ///   directory was removed, if only a link in place of the entry's directory was removed, or if nothing was
    ///   removed.
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

    /// Removes an entry's file like ``remove(_:suffix:in:)``, in the directory that is now at the cache's path.
    @discardableResult
    func remove(_ name: EntryName, suffix: [UInt8]? = nil) -> Bool {
        guard let directory = try? openDirectory() else { return false }
        return remove(name, suffix: suffix, in: directory)
    }

    /// Changes the extension of a file to that of the cache. If the new name is taken, removes the file with the old
    /// extension. Returns whether the extension was changed.
    func rename(_ name: EntryName, from suffix: [UInt8]) -> Bool {
        guard let directory = try? openDirectory(), let shard = try? openShard(of: name, in: directory) else {
            return false
        }
        return paths.withFileName(name, suffix) { other in
            paths.withFileName(name) { shard.renameOrRemove(other, $0) }
        }
    }

    func makeDirectory(_ path: String) throws(DataCacheError) {
        var created = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            created += path.hasPrefix("/") || !created.isEmpty ? "/\(part)" : "\(part)"
            if let hook = paths.hook, access(created, F_OK) != 0,
                case .error(let number) = hook(FileCall(.makeDirectory, created))
            {
                throw SystemError(number: number).cacheError("create", paths.directory)
            }
            guard mkdir(created, 0o700) == 0 || errno == EEXIST else {
                throw lastError.cacheError("create", paths.directory)
            }
        }
    }

    private var lastError: SystemError { SystemError(number: errno) }
}
