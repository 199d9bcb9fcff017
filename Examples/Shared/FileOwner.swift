import AlcedoLibc

/// Whose a file is, and who may read and write it.
struct FileOwner {
    private let user: uid_t
    private let group: gid_t
    private let mode: mode_t

    /// Nil when there is no file of that name.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (user, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o777)
    }

    /// What a file is to be made with that gets the rest afterwards: until then it is its maker's alone.
    var firstMode: mode_t { mode & 0o700 }

    /// Makes an open file the same in this, as far as this user may; where the group stays another, that gets nothing.
    func give(to file: Int32) {
        let isGroup = fchown(file, user, group) == 0 || fchown(file, .max, group) == 0
        // The mask of new files is not for one that has had its mode.
        fchmod(file, isGroup ? mode : mode & ~0o070)
    }
}
