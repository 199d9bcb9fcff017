/// Tells whether this build has the GTK views.
///
/// They come with the package trait `GTK` and need GTK 4.6 or later. Without the trait the module is this type alone
/// and needs nothing of GTK.
package enum GTKSupport {
    /// Whether the trait is on.
    package static let isEnabled: Bool = {
        #if GTK
            true
        #else
            false
        #endif
    }()
}
