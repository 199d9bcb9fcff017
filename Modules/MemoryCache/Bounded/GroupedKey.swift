package import AlcedoCore

/// A key of which several belong together, such as the variants of one image.
///
/// A memory cache with such keys removes a group without looking at its other entries. Groups are compared under its
/// lock, as keys are: neither may call the cache.
@usableFromInline
package protocol GroupedKey: Hashable, Sendable {
    /// What keys that belong together have in common.
    associatedtype Group: Hashable & Sendable
    /// The group of this key.
    var group: Group { get }
    /// `group.hashValue`. A key that keeps it ready saves work at each store.
    var groupHash: Int { get }
}

extension GroupedKey {
    package var groupHash: Int { group.hashValue }
}

extension ImageKey: GroupedKey {
    /// The resource, which all variants of an image share.
    package var group: ResourceKey { resource }
    package var groupHash: Int { resourceHash }
}
