import AlcedoCore
import Glibc

/// Why the system did not do what it was asked for. Taken from `errno` at once: what runs in between may change that.
struct SystemRefusal: Error {
    let number: Int32

    func cacheError(_ action: String, _ place: String) -> DataCacheError {
        let code: DataCacheError.Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP: .notWritable
            default: .failed
            }
        return DataCacheError(
            code, "cannot \(action) the cache directory \(place): \(String(cString: strerror(number)))")
    }
}
