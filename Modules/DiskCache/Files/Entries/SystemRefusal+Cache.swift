import AlcedoCore
import AlcedoLibc

extension SystemRefusal {
    /// - Parameter place: Empty where it is not known.
    func cacheError(_ action: String, _ place: String = "") -> DataCacheError {
        let code: DataCacheError.Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP: .notWritable
            default: .failed
            }
        return DataCacheError(
            code,
            "cannot \(action) the cache directory\(place.isEmpty ? "" : " ")\(place): \(String(cString: strerror(number)))"
        )
    }

    /// Whether it says something of one file, rather than of the process or the machine at this time.
    var isOfOneFile: Bool { [EACCES, EPERM, EIO, ESTALE].contains(number) }
}
