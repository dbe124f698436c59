#!/bin/bash
# Everyday acts of git, each as a line: it works, is refused and leaves all as it was, or is refused half way.
state() {
  cat .git/HEAD .git/config
  git for-each-ref --format='%(refname) %(objectname)'
  git diff --cached --name-only
}
act() { # the name, whether it works, and the command
  local name=$1 want=$2 before after is
  shift 2
  [ "$want" = works ] || before=$(state 2>&1)
  if (eval "$@") >.git/out 2>&1 </dev/null; then is=works
  else
    after=$(state 2>&1)
    [ "$before" = "$after" ] && is=refused || is=half
  fi
  if [ $is = "$want" ]; then echo "GOOD $name"; else
    echo "WRONG $name: $is, not $want"
    cat .git/out
  fi
}
commit() { echo "$1" >"$1" && git add "$1" && git commit -qm "$1"; }
export EDITOR=true GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
echo x >>src/a
act status works git status
act add works git add src/a
act commit works git commit -qm c1
act hook works test -f ran-hook
act amend works git commit -q --amend -m c1b
commit b
commit c
act rebase works GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~2
act branch works git branch t1
act switch-c works git switch -q -c feat
commit d
act switch works git switch -q main
act cherry-pick works git cherry-pick feat
act revert works git revert --no-edit HEAD
git switch -q -c m1 HEAD~2 && commit e && git switch -q main
act merge works git merge -q --no-edit m1
echo w >>src/a
act stash works git stash
act stash-pop works git stash pop -q
act restore works git restore src/a
act checkout-file works git checkout -- src/a
act reset-soft works git reset --soft HEAD~1
act reset-hard works git reset -q --hard ORIG_HEAD
act tag works git tag v1
act tag-annotated works git tag -a -m x v2
act tag-d works git tag -d v1
act branch-m works git branch -m t1 t2
act branch-D works git branch -D t2
act checkout-b-tracking works 'git checkout -q -b tr origin/main && grep -q tr .git/HEAD .git/config'
act branch-m-tracking works git branch -m tr tr2
act push-u works git push -q -u origin tr2
act push works git push -q origin main
act fetch works git fetch -q
act pull works git pull -q --rebase
act checkout-dwim works 'git checkout -q dev && grep -q dev .git/HEAD .git/config'
act set-upstream works git branch -q --set-upstream-to=origin/main
act unset-upstream works git branch --unset-upstream
act edit-description works "GIT_EDITOR='echo text >' git branch --edit-description"
act switch-back works git switch -q main
act branch-D-tracking works git branch -q -D tr2
act clean works 'touch junk && git clean -qfd src && test -f .git/HEAD'
act log works git log --oneline
act blame works git blame src/a
act diff works git diff HEAD~1
act bisect works 'git bisect start HEAD HEAD~2 && git bisect run true && git bisect reset'
act remote-add refused git remote add up2 src/up
act remote-set-url refused git remote set-url origin x
act remote-rename refused git remote rename origin x
act config refused git config --local user.name zz
act config-alias refused git config alias.x '!true'
act sparse-checkout refused git sparse-checkout set src
act gc works git gc -q
act repack works git repack -q -d
act maintenance works git maintenance run --quiet
act worktree-add refused git worktree add -q --detach src/wt
act worktree-add-b half git worktree add -q -b wtb src/wt
act worktree-list works git worktree list
act notes works git notes add -m n
commit f
act format-patch works git format-patch -q -1 -o .git/p HEAD
act am works 'git reset -q --hard HEAD~1 && git am -q .git/p/*.patch'
act archive works git archive -o .git/a.tar HEAD
act bundle works git bundle create -q .git/x.bundle main
act submodule-add refused git -c protocol.file.allow=always submodule add -q ./src/up src/sub
act submodule-update works git submodule update
act rm works git rm -q b
act mv works git mv c c2
act sign works git -c gpg.format=ssh -c user.signingkey="$PWD/.git/key.pub" -c commit.gpgsign=true commit -qm s
act rerere works git rerere
act replace works 'git replace HEAD HEAD~1 && git replace -d HEAD'
act fsck works git fsck
act reflog works git reflog expire --expire=now --all
act init-below works git init -q src/nested
act clone-below works git clone -q src/up src/cloned
act remote-rm half git remote remove origin
