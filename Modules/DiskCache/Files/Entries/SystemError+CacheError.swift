import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

extension SystemError {
    /// Returns the error that the cache throws for this system error.
    ///
    /// - Parameters:
    ///   - action: The operation that failed, as a verb phrase.
    ///   - directory: The path of the directory, or an empty string if the path is unknown. The default is an empty
    ///     string.
    func cacheError(_ action: String, _ directory: String = "") -> DataCacheError {
        let code: DataCacheError.Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP: .notWritable
            default: .failed
            }
        let path = directory.isEmpty ? "" : " \(directory)"
        let reason = String(cString: strerror(number))
        return DataCacheError(code, "cannot \(action) the cache directory\(path): \(reason)")
    }

    /// Whether the error may concern only one file, rather than the present state of the process or the machine.
    var isOfOneFile: Bool { [EACCES, EPERM, EIO, ESTALE].contains(number) }
}
