import Alcedo
import AlcedoLibc
import ExampleSupport
import FoundationEssentials

/// The cache on disk where none is named.
enum DefaultCache {
    /// nil without a home, and where the home is none: then it cannot be made, as for the users of many services, and each
    /// load would tell of that. One that is there is used, whatever may be done to it.
    static var directory: URL? {
        guard let directory = ImagePipeline.Configuration.standardCacheDirectory else { return nil }
        var place = directory.path(percentEncoded: false)
        guard access(place, F_OK) != 0 else { return directory }
        // What is there already has to take what is not.
        while access(place, F_OK) != 0 {
            guard errno == ENOENT else { return nil }
            place = PathParts.folder(of: place.hasSuffix("/") ? String(place.dropLast()) : place)
            guard !place.isEmpty else { return nil }
        }
        return access(place, W_OK | X_OK) == 0 ? directory : nil
    }
}
